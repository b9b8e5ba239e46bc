// SPDX-License-Identifier: Apache-2.0

/// A server that answers with 3,000,000 bytes in the Content-Encoding that the path names.
///
/// It ends with the object.
public final class CodedServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer

    /// Starts the server and waits until it accepts connections.
    public init() throws {
        server = try PythonServer(Self.program)
        url = "http://127.0.0.1:\(server.port)"
    }

    /// The decoded body of each answer.
    public static let body: [UInt8] = {
        var body = [UInt8](repeating: 0x61, count: 3_000_000)
        for index in stride(from: 0, to: body.count, by: 997) { body[index] = UInt8(0x30 + index % 10) }
        return body
    }()

    private static let program = """
        import gzip, sys, zlib
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        from urllib.parse import unquote

        body = bytearray(b"a" * 3000000)
        for i in range(0, len(body), 997):
            body[i] = 0x30 + i % 10
        codings = {"gzip": gzip.compress, "deflate": zlib.compress}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *_):
                pass
            def do_GET(self):
                names, data = unquote(self.path[1:]), bytes(body)
                for name in names.split(", "):
                    data = codings[name](data)
                self.send_response(200)
                self.send_header("Content-Encoding", names)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """
}
