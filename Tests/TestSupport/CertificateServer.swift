// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// A TLS server that demands a client certificate of the test's authority: `openssl s_server`.
///
/// It speaks only one version of TLS, by default 1.3.
public final class CertificateServer: Sendable {
    /// The port on which it listens. It uses the certificate of `nginx` for `localhost`.
    public let port: UInt16
    private let process: Int32

    /// Starts the server and waits until it accepts connections.
    public init(as nginx: NginxServer, tls: String = "tls1_3") throws {
        port = try TargetServer.freePort()
        process = try ChildProcess.spawn(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", nginx.certificate, "-key",
                nginx.otherKey,
                "-CAfile", nginx.caFile, "-Verify", "1", "-verify_return_error", "-\(tls)", "-www", "-quiet",
            ], output: -1)
        let port = port
        try TestClock.wait(20, for: "s_server on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit { ChildProcess.terminate(process) }

    /// The server's URL.
    public var url: String { "https://localhost:\(port)/" }
}
