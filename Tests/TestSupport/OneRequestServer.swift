// SPDX-License-Identifier: Apache-2.0

/// An HTTP/1.1 server that answers only the first request of each connection.
///
/// It closes the connection in good order as soon as it has read the head of the second request. It ends with the
/// object.
public final class OneRequestServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer

    /// Starts the server and waits until it accepts connections.
    public init() throws {
        server = try PythonServer(Self.program)
        url = "http://127.0.0.1:\(server.port)"
    }

    private static let program = #"""
        import re, socketserver, sys

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                data = b""
                while b"\r\n\r\n" not in data:
                    more = self.request.recv(65536)
                    if not more:
                        return
                    data += more
                head, body = data.split(b"\r\n\r\n", 1)
                length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
                while len(body) < length:
                    body += self.request.recv(65536)
                self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                self.request.recv(65536)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """#
}
