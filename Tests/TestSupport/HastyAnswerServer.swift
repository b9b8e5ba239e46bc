// SPDX-License-Identifier: Apache-2.0

/// An HTTP/1.1 server that lets each request go on (100), reads 256 KiB of it and gives its whole answer; it then reads on and
/// closes nothing. It ends with the object.
public final class HastyAnswerServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer

    /// Starts it and waits until it takes connections.
    public init(_ answer: String) throws {
        server = try PythonServer(Self.program, [answer])
        url = "http://127.0.0.1:\(server.port)"
    }

    private static let program = #"""
        import socketserver, sys

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                count = 0
                while count < 256 << 10 and (data := self.request.recv(65536)):
                    count += len(data)
                self.request.sendall(sys.argv[2].encode())
                while self.request.recv(65536):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """#
}
