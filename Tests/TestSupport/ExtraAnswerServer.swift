// SPDX-License-Identifier: Apache-2.0

/// A TLS server that says more than it was asked: to GET a second answer, `{"evil":1}`, 50 ms behind the first
/// (`/late`) or in the same TLS record as the first one's body (`/joined`); to POST `right` and no more.
public final class ExtraAnswerServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx it was made with.
    public let url: String
    private let server: PythonServer
    private let folder: TestFolder

    /// Starts it, with TLS 1.2 or 1.3 alone, and waits until it takes connections.
    public init(as nginx: NginxServer, tls: String) throws {
        folder = try TestFolder()
        server = try PythonServer(tls: Self.program, as: nginx, [tls, folder.path("sent")])
        url = "https://localhost:\(server.port)"
    }

    /// How many second answers it has sent.
    public var lateAnswers: Int { folder.read("sent")?.count ?? 0 }

    private static let program = #"""
        context.minimum_version = context.maximum_version = ssl.TLSVersion["TLSv1_" + sys.argv[4][-1]]
        evil = b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"evil":1}'

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    self.answer(context.wrap_socket(self.request, server_side=True))
                except OSError:
                    pass

            def answer(self, line):
                while request := line.recv(65536):
                    if request.startswith(b"POST"):
                        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright")
                        continue
                    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
                    if b"/joined" in request:
                        line.sendall(b"first" + evil)
                        self.count()
                        continue
                    line.sendall(b"first")
                    time.sleep(0.05)
                    line.sendall(evil)
                    self.count()

            def count(self):
                with open(sys.argv[5], "a") as file:
                    file.write("1")
        """#
}
