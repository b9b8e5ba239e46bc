// SPDX-License-Identifier: Apache-2.0

/// How a service is reached where the plain way will not do: proxy, outgoing interface, own TLS files.
///
/// A value is as large as a pointer, so that calls without one carry nothing for it; keep one per service and give
/// it to each of its calls: equal values share connections, and the same value is found equal at once.
public struct Transport: Hashable, Sendable {
    private struct Settings: Hashable, Sendable {
        var proxy, interface, caFile, certificateFile, keyFile: String?
        var pins: [String]
    }

    private final class Storage: Sendable {
        let settings: Settings

        init(_ settings: Settings) { self.settings = settings }
    }

    private let storage: Storage

    /// Each is left to its default when nil or empty; files are read by the worker and PEM.
    public init(
        proxy: String? = nil, interface: String? = nil, caFile: String? = nil, certificateFile: String? = nil,
        keyFile: String? = nil, pins: [String] = []
    ) {
        storage = Storage(
            Settings(
                proxy: proxy, interface: interface, caFile: caFile, certificateFile: certificateFile, keyFile: keyFile,
                pins: pins))
    }

    /// An http, https or socks5h URL; it may hold user and password, so it never stands in a message or log.
    public var proxy: String? { storage.settings.proxy }
    /// The network interface or local address that carries the calls.
    public var interface: String? { storage.settings.interface }
    /// The authorities that are trusted, instead of the worker's.
    public var caFile: String? { storage.settings.caFile }
    /// The client certificate, with what lies between it and its authority.
    public var certificateFile: String? { storage.settings.certificateFile }
    /// The client certificate's private key; nil: it stands in the certificate's file.
    public var keyFile: String? { storage.settings.keyFile }
    /// The server's public key must be one of these, `sha256//BASE64` each; none: any that the authorities vouch for.
    public var pins: [String] { storage.settings.pins }

    /// The settings are alike; at once for copies of one value.
    public static func == (one: Transport, other: Transport) -> Bool {
        one.storage === other.storage || one.storage.settings == other.storage.settings
    }

    /// Hashes all settings.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.settings) }
}
