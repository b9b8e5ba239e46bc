// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// A real proxy on a loopback port that demands a user and password: tinyproxy for HTTP, microsocks for SOCKS.
public final class ProxyServer: Sendable {
    /// The protocol of the proxy.
    public enum Kind: Sendable {
        case http, socks
    }

    /// The user that the proxy accepts.
    public static let user = "ada"
    /// The password of `user`.
    public static let password = "s3cret-pass"
    /// The port on which the proxy listens.
    public let port: UInt16
    private let kind: Kind
    private let process: Int32

    /// Starts the proxy and waits until it accepts connections.
    public init(_ kind: Kind) throws {
        self.kind = kind
        port = try TargetServer.freePort()
        switch kind {
        case .socks:
            process = try ChildProcess.spawn(
                ["microsocks", "-i", "127.0.0.1", "-p", String(port), "-u", Self.user, "-P", Self.password],
                output: -1)
        case .http:
            // tinyproxy reads its settings only from a file. The shell's here-document acts as one.
            let settings = """
                Port \(port)
                Listen 127.0.0.1
                Timeout 60
                MaxClients 50
                BasicAuth \(Self.user) \(Self.password)
                """
            process = try ChildProcess.spawn(
                ["/bin/sh", "-c", "exec tinyproxy -d -c /dev/stdin <<'END'\n\(settings)\nEND"], output: -1)
        }
        try TestClock.wait(20, for: "the proxy on port \(port)") { TargetServer.isTaken(port) }
    }

    deinit { ChildProcess.terminate(process) }

    /// The proxy's URL with this password.
    public func url(password: String = ProxyServer.password) -> String {
        "\(kind == .http ? "http" : "socks5h")://\(Self.user):\(password)@127.0.0.1:\(port)"
    }
}
