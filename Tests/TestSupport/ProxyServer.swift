// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A real proxy on a loopback port that wants a user and password: tinyproxy for HTTP, microsocks for SOCKS.
public final class ProxyServer: Sendable {
    /// What it speaks.
    public enum Kind: Sendable {
        case http, socks
    }

    /// Whom it lets through.
    public static let user = "ada"
    /// With which password.
    public static let password = "s3cret-pass"
    /// Where it listens.
    public let port: UInt16
    private let kind: Kind
    private let process: Int32

    /// Starts it and waits until it takes connections.
    public init(_ kind: Kind) throws {
        self.kind = kind
        port = try TargetServer.freePort()
        switch kind {
        case .socks:
            process = try ChildProcess.spawn(
                ["microsocks", "-i", "127.0.0.1", "-p", String(port), "-u", Self.user, "-P", Self.password],
                output: -1)
        case .http:
            // tinyproxy reads its settings from a file only; the shell's here-document is one.
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

    deinit {
        kill(process, SIGTERM)
        _ = ChildProcess.wait(for: process)
    }

    /// Its URL with this password.
    public func url(password: String = ProxyServer.password) -> String {
        "\(kind == .http ? "http" : "socks5h")://\(Self.user):\(password)@127.0.0.1:\(port)"
    }
}
