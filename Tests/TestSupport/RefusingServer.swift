// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// An HTTP/2 server over TLS that refuses each request with REFUSED_STREAM, which means that it has not looked at it.
public final class RefusingServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx it was made with.
    public let url: String
    private let process: Int32

    /// Starts it and waits until it takes connections.
    public init(as nginx: NginxServer) throws {
        let port = try TargetServer.freePort()
        url = "https://localhost:\(port)"
        process = try ChildProcess.spawn(
            [ProjectFolder.python(), "-c", Self.program, String(port), nginx.certificate, nginx.otherKey], output: -1)
        try TestClock.wait(20, for: "the server on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit {
        kill(process, SIGTERM)
        _ = ChildProcess.wait(for: process)
    }

    private static let program = #"""
        import socketserver, ssl, struct, sys

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        context.set_alpn_protocols(["h2"])
        HEADERS, RST_STREAM, SETTINGS, REFUSED = 1, 3, 4, 7

        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    self.refuse(context.wrap_socket(self.request, server_side=True).makefile("rwb", 0))
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
                    if kind == HEADERS:
                        line.write(frame(RST_STREAM, 0, stream, struct.pack(">I", REFUSED)))

            def exactly(self, line, length):
                taken = b""
                while len(taken) < length and (more := line.read(length - len(taken))):
                    taken += more
                return taken

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """#
}
