// SPDX-License-Identifier: Apache-2.0

/// A TLS server that sends a second answer, `{"evil":1}`, to each GET.
///
/// For `/late` it sends the second answer 50 ms after the first. For `/joined` the second answer is in the TLS record
/// of the first body. A POST gets only the answer `right`.
public final class ExtraAnswerServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx that was passed to `init`.
    public let url: String
    private let server: PythonServer
    private let folder: TestFolder

    /// Starts the server with only TLS 1.2 or only 1.3, and waits until it accepts connections.
    public init(as nginx: NginxServer, tls: String) throws {
        folder = try TestFolder()
        server = try PythonServer(tls: Self.program, as: nginx, [tls, folder.path("sent")])
        url = "https://localhost:\(server.port)"
    }

    /// The number of second answers that the server has sent.
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
