// SPDX-License-Identifier: Apache-2.0

/// A TLS 1.3 server that closes each connection after its own part of the handshake.
///
/// The client's next bytes meet a reset, before the server has read a byte of the request.
public final class HandshakeClosingServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx that was passed to `init`.
    public let url: String
    private let server: PythonServer

    /// Starts the server and waits until it accepts connections.
    ///
    /// - Parameter asks: whether the server requests a client certificate.
    public init(as nginx: NginxServer, asks: Bool) throws {
        server = try PythonServer(tls: Self.program, as: nginx, [nginx.caFile, asks ? "asks" : ""])
        url = "https://localhost:\(server.port)"
    }

    private static let program = #"""
        context.load_verify_locations(sys.argv[4])
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        if sys.argv[5]:
            context.verify_mode = ssl.CERT_REQUIRED

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = context.wrap_bio(received, sent, server_side=True)
                while not sent.pending and (data := self.request.recv(65536)):
                    received.write(data)
                    try:
                        tls.do_handshake()
                    except ssl.SSLWantReadError:
                        pass
                self.request.sendall(sent.read())

        Server.shutdown_request = lambda self, request: request.close()
        """#
}
