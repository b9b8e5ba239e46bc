// SPDX-License-Identifier: Apache-2.0
import CCurl
import CResolver
import JobModel

/// The handles and connections of one transport. No other transport shares them. C: `ccurl_transport`.
@safe final class TransportPool {
    let handle: OpaquePointer
    /// How many of its handles work on calls. The pool must live while there are any.
    var inUse = 0
    /// The number of the last call with this transport. The pool with the lowest number has been idle for
    /// longest.
    var lastUse = 0
    private var idle: [CurlTransfer] = []

    private static let idleHandles = 64

    /// Checks all settings that can be checked without opening a file or socket.
    init(_ transport: Transport, in loop: CurlLoop) throws(CallRefusal) {
        let proxy = try transport.proxy.map { text throws(CallRefusal) in try ProxyAddress(text) }
        try TransportPool.checkFiles(transport)
        try TransportPool.checkPins(transport.pins)
        var texts = CStrings()
        let proxyURL = texts.add(proxy?.url)
        let user = texts.add(proxy?.user)
        let password = texts.add(proxy?.password)
        let interface = texts.add(try TransportPool.interfaceOption(transport.interface))
        let ca = texts.add(transport.caFile)
        let certificate = texts.add(transport.certificateFile)
        let key = texts.add(transport.keyFile)
        let pins = texts.add(transport.pins.isEmpty ? nil : transport.pins.joined(separator: ";"))
        let made = unsafe texts.bytes.withUnsafeBufferPointer { block -> OpaquePointer? in
            func text(_ offset: Int?) -> UnsafePointer<CChar>? {
                guard let offset, let base = block.baseAddress else { return nil }
                return unsafe base + offset
            }
            var settings = unsafe ccurl_transport_settings(
                proxy: text(proxyURL), proxy_user: text(user), proxy_password: text(password),
                interface: text(interface), ca_file: text(ca), certificate_file: text(certificate),
                key_file: text(key), pins: text(pins))
            return unsafe ccurl_transport_create(loop.handle, &settings)
        }
        guard let made = unsafe made else {
            throw CallRefusal(
                .internal,
                "no connection pool for the service's proxy, interface or tls: calls use too many such settings, or the worker is out of memory"
            )
        }
        unsafe handle = made
    }

    deinit {
        idle.removeAll()
        unsafe ccurl_transport_destroy(handle)
    }

    /// An idle handle, nil if the pool has none.
    func takeIdle() -> CurlTransfer? { idle.popLast() }

    /// Keeps a cleared handle if there is room.
    func giveBack(_ transfer: CurlTransfer) {
        if idle.count < TransportPool.idleHandles { idle.append(transfer) }
    }

    /// libcurl would resolve any other name with a blocking call, to find a local address.
    private static func interfaceOption(_ name: String?) throws(CallRefusal) -> String? {
        guard let name, !name.isEmpty else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "._-:@".utf8.contains(byte)
            }
        }
        guard isName, name.utf8.count <= 64 else {
            throw CallRefusal(
                .config, "the service's interface is neither a network interface's name nor an address of this host")
        }
        return unsafe cresolver_address_text_is_public(name) >= 0 ? "host!\(name)" : "if!\(name)"
    }

    private static func checkFiles(_ transport: Transport) throws(CallRefusal) {
        let files = [
            ("ca", transport.caFile), ("certificate", transport.certificateFile), ("key", transport.keyFile),
        ]
        for (name, path) in files {
            guard let path else { continue }
            guard path.hasPrefix("/"), !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
                throw CallRefusal(.config, "\(name) in the service's tls is not an absolute path of a file")
            }
        }
        if transport.keyFile != nil, transport.certificateFile == nil {
            throw CallRefusal(.config, "the service's tls has a key and no certificate; give both")
        }
    }

    /// libcurl reads a text that is no hash as the name of a file, and a semicolon as a separator of pins.
    private static func checkPins(_ pins: [String]) throws(CallRefusal) {
        for pin in pins {
            let hash = pin.utf8.dropFirst(8)
            let isHash = hash.dropLast().allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
            guard pin.hasPrefix("sha256//"), hash.count == 44, hash.last == UInt8(ascii: "="), isHash else {
                throw CallRefusal(
                    .config,
                    "a pin in the service's tls is not sha256// and the base64 of a public key's SHA-256 (44 characters)"
                )
            }
        }
    }
}
