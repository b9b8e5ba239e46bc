// SPDX-License-Identifier: Apache-2.0

/// A web server that parses request bodies of any size with Werkzeug's form parser.
///
/// The answer to a multipart body has one line per part, `name filename type size sha256`. Each value is
/// percent-encoded, and `-` stands for a missing one. The answer to another body holds its bytes, without gzip. The
/// server ends with the object.
public final class FormServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer

    /// Starts the server and waits until it accepts connections.
    public init() throws {
        server = try PythonServer(Self.program)
        url = "http://127.0.0.1:\(server.port)"
    }

    private static let program = """
        import gzip, hashlib, socketserver, sys
        from urllib.parse import quote
        from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
        from werkzeug.formparser import FormDataParser
        from werkzeug.wsgi import get_input_stream

        class Digest:
            def __init__(self):
                self.size, self.hash, self.last = 0, hashlib.sha256(), b""
            def write(self, data):
                self.size += len(data)
                self.hash.update(data)
            def seek(self, *_):
                pass

        def line(name, filename, kind, size, digest):
            return " ".join(quote(x, safe="") if x else "-" for x in (name, filename, kind, str(size), digest))

        def app(environ, start_response):
            stream, length = get_input_stream(environ), int(environ.get("CONTENT_LENGTH") or 0)
            kind = environ.get("CONTENT_TYPE", "")
            if kind.startswith("multipart/"):
                parser = FormDataParser(stream_factory=lambda *_, **__: Digest(), max_form_memory_size=None, silent=False)
                boundary = {"boundary": kind.split("boundary=")[1]}
                _, form, files = parser.parse(stream, kind.split(";")[0], length, boundary)
                lines = [line(n, None, None, len(v.encode()), hashlib.sha256(v.encode()).hexdigest())
                         for n, v in form.items(multi=True)]
                lines += [line(n, f.filename, f.content_type, f.stream.size, f.stream.hash.hexdigest())
                          for n, f in files.items(multi=True)]
                body = "\\n".join(lines).encode()
            else:
                body = stream.read(length)
                if environ.get("HTTP_CONTENT_ENCODING") == "gzip":
                    body = gzip.decompress(body)
            start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
            return [body]

        class Handler(WSGIRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, WSGIServer):
            daemon_threads = True

        make_server("127.0.0.1", int(sys.argv[1]), app, Server, Handler).serve_forever()
        """
}
