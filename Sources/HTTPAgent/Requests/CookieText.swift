// SPDX-License-Identifier: Apache-2.0

/// Converts the lines of a cookie jar to text for the database, without loss. A server may use any bytes from 0x80 on,
/// and expects them back unchanged.
///
/// Valid UTF-8 is not changed. Any other byte becomes one of 128 private characters. If a server uses these characters
/// itself, their bytes are converted as well.
enum CookieText {
    private static let first: UInt32 = 0x10_F780
    private static let substitutes = first...(first + 0x7F)

    /// The text of a line of the jar.
    static func decode(_ bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        var input = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        func escape(_ count: Int) {
            for byte in rest.prefix(count) { text.append(Unicode.Scalar(first + UInt32(byte & 0x7F)) ?? "\u{FFFD}") }
        }
        while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: return String(text)
            case .error(let length):
                escape(length)
                rest = rest.dropFirst(length)
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if substitutes.contains(scalar.value) { escape(encoded.count) } else { text.append(scalar) }
                rest = rest.dropFirst(encoded.count)
            }
        }
    }

    /// The bytes of a line for the jar.
    static func encode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if substitutes.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - first) | 0x80)
            } else {
                bytes += UTF8.encode(scalar) ?? .init()
            }
        }
        return bytes
    }
}
