// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A TLS 1.3 server that closes each connection behind its own part of the handshake; what the client says then meets a
/// reset, before a byte of its request.
public final class HastyServer: Sendable {
    /// `https://localhost:PORT`, with the certificate of the nginx it was made with.
    public let url: String
    private let process: Int32

    /// Starts it and waits until it takes connections.
    ///
    /// - Parameter asks: whether it asks for a client certificate.
    public init(as nginx: NginxServer, asks: Bool) throws {
        let port = try TargetServer.freePort()
        url = "https://localhost:\(port)"
        process = try ChildProcess.spawn(
            [
                ProjectFolder.python(), "-c", Self.program, String(port), nginx.certificate, nginx.otherKey,
                nginx.caFile, asks ? "asks" : "",
            ], output: -1)
        try TestClock.wait(20, for: "the server on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit {
        kill(process, SIGTERM)
        _ = ChildProcess.wait(for: process)
    }

    private static let program = #"""
        import socketserver, ssl, sys

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
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

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

            def shutdown_request(self, request):
                request.close()

        Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """#
}
