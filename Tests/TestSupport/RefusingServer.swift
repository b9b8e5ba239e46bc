// SPDX-License-Identifier: Apache-2.0

/// An HTTP/2 server over TLS that refuses each request with REFUSED_STREAM: it has not processed the request.
///
/// With `closes`, it closes the connection instead.
public final class RefusingServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx that was passed to `init`.
    public let url: String
    private let server: PythonServer

    /// Starts the server and waits until it accepts connections.
    public init(as nginx: NginxServer, closes: Bool = false) throws {
        server = try PythonServer(tls: Self.program, as: nginx, [closes ? "closes" : ""])
        url = "https://localhost:\(server.port)"
    }

    private static let program = #"""
        context.set_alpn_protocols(["h2"])
        HEADERS, RST_STREAM, SETTINGS, REFUSED = 1, 3, 4, 7

        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    self.channel = context.wrap_socket(self.request, server_side=True)
                    self.refuse(self.channel.makefile("rwb", 0))
                except (OSError, ValueError):
                    pass

            def refuse(self, line):
                line.read(24)
                line.write(frame(SETTINGS, 0, 0))
                while len(head := self.exactly(line, 9)) == 9:
                    length, kind = int.from_bytes(head[:3], "big"), head[3]
                    stream = int.from_bytes(head[5:], "big")
                    self.exactly(line, length)
                    if kind == SETTINGS and not head[4]:
                        line.write(frame(SETTINGS, 1, 0))
                    if kind == HEADERS and sys.argv[4]:
                        # If bytes are unread (the body's frame), close() resets the connection. So read them first.
                        self.channel.shutdown(socket.SHUT_WR)
                        while self.channel.recv(65536):
                            pass
                        return
                    if kind == HEADERS:
                        line.write(frame(RST_STREAM, 0, stream, struct.pack(">I", REFUSED)))

            def exactly(self, line, length):
                taken = b""
                while len(taken) < length and (more := line.read(length - len(taken))):
                    taken += more
                return taken
        """#
}
