// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// The address of a worker's pages: a numeric address and a port, `127.0.0.1:9464` or `[::1]:9464`.
public struct AdminAddress: Equatable, Sendable, CustomStringConvertible {
    /// The IPv4 or IPv6 address, without brackets.
    public let host: String
    /// The port, 1 to 65535.
    public let port: UInt16
    /// Whether only programs on this machine can reach it.
    public let isLoopback: Bool

    /// Reads `ADDR:PORT`.
    ///
    /// - Throws: its defect.
    public init(_ text: String) throws(AdminError) {
        guard let colon = text.lastIndex(of: ":") else { throw AdminError(reason: "it has no port") }
        guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw AdminError(reason: "its port is not a number from 1 to 65535")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw AdminError(reason: "an IPv6 address needs brackets")
        }
        // 1: a loopback address, 0: another address, -1: no address.
        let loopback = unsafe chttpserver_is_loopback(String(host))
        guard !host.isEmpty, loopback >= 0 else {
            throw AdminError(reason: "it does not begin with an IP address")
        }
        self.host = String(host)
        self.port = port
        self.isLoopback = loopback == 1
    }

    /// A port of 127.0.0.1.
    public init(loopback port: UInt16) {
        host = "127.0.0.1"
        self.port = port
        isLoopback = true
    }

    /// For example `127.0.0.1:9464` or `[::1]:9464`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why pages cannot be served.
public struct AdminError: Error, Equatable, Sendable {
    /// The defect as the end of a sentence, without a secret.
    public let reason: String
}
