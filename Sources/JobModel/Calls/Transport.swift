// SPDX-License-Identifier: Apache-2.0

/// The connection settings of a service: proxy, outgoing interface, TLS files.
///
/// A value has the size of a pointer, so calls without one stay small. Keep one value per service and give it to each
/// call. Equal values share connections, and copies of one value compare fast.
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

    /// Settings. Nil or empty means the default. The worker reads the files, which are PEM.
    public init(
        proxy: String? = nil, interface: String? = nil, caFile: String? = nil, certificateFile: String? = nil,
        keyFile: String? = nil, pins: [String] = []
    ) {
        storage = Storage(
            Settings(
                proxy: proxy, interface: interface, caFile: caFile, certificateFile: certificateFile, keyFile: keyFile,
                pins: pins))
    }

    /// An http, https or socks5h URL. It may contain a user and password, so it never appears in a message or log.
    public var proxy: String? { storage.settings.proxy }
    /// The network interface or local address that carries the calls.
    public var interface: String? { storage.settings.interface }
    /// The trusted certificate authorities, instead of the worker's.
    public var caFile: String? { storage.settings.caFile }
    /// The client certificate, with its intermediate certificates.
    public var certificateFile: String? { storage.settings.certificateFile }
    /// The private key of the client certificate; nil: the certificate's file contains it.
    public var keyFile: String? { storage.settings.keyFile }
    /// The accepted public keys of the server, `sha256//BASE64` each. Empty: any key with a valid certificate.
    public var pins: [String] { storage.settings.pins }

    /// Whether all settings are equal. Copies of one value compare in constant time.
    public static func == (one: Transport, other: Transport) -> Bool {
        one.storage === other.storage || one.storage.settings == other.storage.settings
    }

    /// Hashes all settings.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.settings) }
}
