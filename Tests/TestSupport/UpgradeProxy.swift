// SPDX-License-Identifier: Apache-2.0

/// An HTTP proxy that itself answers for `localhost`, on the ports 80 and 443 as the client sees it.
///
/// `http://localhost/…` redirects to https on the same host, by status 308. `https://localhost/…` answers with its
/// request as text. The proxy ends with the object.
///
/// - `/STATUS/PATH` over http redirects by STATUS.
/// - `/down/PATH` over https redirects to http. There it redirects to `/PATH` over https.
/// - `/list/N` and `/link/N` over https are pages of one item. Page 1 of `/list` has a `Link` header with an `http` URL
///   to page 2. Page 1 of `/link` has a relative reference in single quotes.
public final class UpgradeProxy: Sendable {
    /// The proxy's URL for a service or call.
    public let url: String
    /// The self-signed certificate for `localhost`, a PEM file.
    public var caFile: String { folder.path("cert.pem") }
    private let server: PythonServer
    private let folder: TestFolder

    /// Makes the certificate, starts the proxy and waits until it accepts connections.
    public init() throws {
        folder = try TestFolder()
        try folder.shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem "
                + "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost")
        server = try PythonServer(Self.program, [folder.path("cert.pem"), folder.path("key.pem")])
        url = "http://127.0.0.1:\(server.port)"
    }

    private static let program = #"""
        import socketserver, ssl, sys

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        class Handler(socketserver.BaseRequestHandler):
            def request_text(self, line):
                text = b""
                while not text.endswith(b"\r\n\r\n"):
                    byte = line.recv(1)
                    if not byte:
                        return ""
                    text += byte
                text = text.decode("latin-1")
                length = [l.split(":")[1] for l in text.split("\r\n") if l.lower().startswith("content-length:")]
                for _ in range(int(length[0]) if length else 0):
                    text += line.recv(1).decode("latin-1")
                return text

            def answer(self, line, status, body, header=""):
                body = body.encode("latin-1")
                line.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{header}\r\n".encode() + body)

            def handle(self):
                text = self.request_text(self.request)
                if not text.startswith("CONNECT "):
                    path = text.split(" ")[1].removeprefix("http://localhost")
                    status = path.split("/")[1]
                    status = status if status.isdigit() else "308"
                    self.answer(self.request, status, "", f"Location: https://localhost{path.removeprefix('/down')}\r\n")
                    return
                self.request.sendall(b"HTTP/1.1 200 X\r\n\r\n")
                with context.wrap_socket(self.request, server_side=True) as line:
                    text = self.request_text(line)
                    path = text.split(" ")[1]
                    header = ""
                    if path == "/list/1":
                        header = "Link: <http://localhost/list/2>; rel=next\r\n"
                    elif path == "/link/1":
                        header = "Link: </link/2>; rel='next'\r\n"
                    if path.startswith(("/list/", "/link/")):
                        self.answer(line, 200, f"[{path[-1]}]", header)
                    elif path.startswith("/down/"):
                        self.answer(line, 307, "", f"Location: http://localhost{path}\r\n")
                    else:
                        self.answer(line, 200, text)

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """#
}
