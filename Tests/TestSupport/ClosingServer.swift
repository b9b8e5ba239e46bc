// SPDX-License-Identifier: Apache-2.0

/// A TLS server that closes the connection after each answer.
///
/// `/announced/…` closes with the TLS alert close_notify, `/bare/…` closes only the TCP connection. The rest of the
/// path selects the answer; see `program`.
public final class ClosingServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx that was passed to `init`.
    public let url: String
    private let server: PythonServer

    /// Starts the server with only TLS 1.2 or only 1.3, and waits until it accepts connections.
    public init(as nginx: NginxServer, tls: String) throws {
        server = try PythonServer(tls: Self.program, as: nginx, [tls])
        url = "https://localhost:\(server.port)"
    }

    private static let program = #"""
        context.minimum_version = context.maximum_version = ssl.TLSVersion["TLSv1_" + sys.argv[4][-1]]
        long = b"0123456789" * 5000
        answers = {
            "unsized": b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n" + long,
            "old": b"HTTP/1.0 200 OK\r\nX-A: b\r\n\r\n" + long,
            "nothing": b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n",
            "sized": b"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + long,
            "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nC350\r\n" + long + b"\r\n0\r\n\r\n",
            "bodiless": b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
            "unchanged": b"HTTP/1.1 304 Not Modified\r\nX-A: b\r\n\r\n",
            "head": b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n",
            "redirect": b"HTTP/1.1 302 Found\r\nLocation: /announced/sized\r\n\r\n" + long,
            "refusal": b"HTTP/1.1 429 Later\r\nRetry-After: 7\r\n\r\n" + long,
            "cut": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
        }

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    line = context.wrap_socket(self.request, server_side=True)
                    request = line.recv(65536)
                    if not request:
                        return
                    end, name = request.split()[1].decode().split("/")[1:3]
                    line.sendall(answers[name])
                    if end == "announced":
                        line.unwrap()
                    line.close()
                except OSError:
                    pass
        """#
}
