// SPDX-License-Identifier: Apache-2.0

/// An HTTP/1.1 server that answers no request until the test calls `allowAnswers()`.
///
/// It first sends status 100 and reads the request. After the whole answer it reads on and closes nothing. It ends with
/// the object.
public final class GatedAnswerServer: Sendable {
    /// `http://127.0.0.1:PORT`.
    public let url: String
    private let server: PythonServer
    private let folder: TestFolder

    /// Starts the server and waits until it accepts connections.
    public init(_ answer: String) throws {
        folder = try TestFolder()
        server = try PythonServer(Self.program, [answer, folder.path("allowed")])
        url = "http://127.0.0.1:\(server.port)"
    }

    /// From now on, the server answers each request.
    public func allowAnswers() throws {
        try folder.shell("touch allowed")
    }

    private static let program = #"""
        import os, socketserver, sys

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                self.request.settimeout(0.01)
                while not os.path.exists(sys.argv[3]):
                    try:
                        self.request.recv(65536)
                    except TimeoutError:
                        pass
                self.request.settimeout(None)
                self.request.sendall(sys.argv[2].encode())
                while self.request.recv(65536):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """#
}
