// SPDX-License-Identifier: Apache-2.0

/// An HTTP/1.1 server that answers a request with `Expect` with 417, before its body, and any other one with how many requests its
/// connection has brought, itself included. It closes nothing. It ends with the object.
public final class ExpectingServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer

    /// Starts it and waits until it takes connections.
    public init() throws {
        server = try PythonServer(Self.program)
        url = "http://127.0.0.1:\(server.port)"
    }

    private static let program = """
        import http.server, sys

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            count = 0
            def answer(self, status, body):
                self.count += 1
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def handle_expect_100(self):
                return True
            def do_GET(self):
                if self.headers.get("Expect"):
                    return self.answer(417, b"")
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.answer(200, str(self.count + 1).encode())
            do_POST = do_GET
            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """
}
