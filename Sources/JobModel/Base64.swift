// SPDX-License-Identifier: Apache-2.0

/// The standard alphabet with padding (RFC 4648 §4).
public enum Base64 {
    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes, with padding.
    public static func encode(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < left ? UInt32(bytes[index + offset]) : 0)
            }
            for place in 0..<4 {
                let pad = place > left
                out.append(pad ? UInt8(ascii: "=") : alphabet[Int(group >> UInt32(18 - 6 * place)) & 63])
            }
            index += 3
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Decodes a text with or without padding. Nil if it is not Base64.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var letters = Array(text.utf8)
        let padding = letters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, padding == 0 || letters.count % 4 == 0 else { return nil }
        letters.removeLast(padding)
        guard letters.count % 4 != 1 else { return nil }
        var out: [UInt8] = []
        out.reserveCapacity(letters.count / 4 * 3 + 2)
        var group: UInt32 = 0
        for (index, letter) in letters.enumerated() {
            guard let value = alphabet.firstIndex(of: letter) else { return nil }
            group = group << 6 | UInt32(value)
            if index % 4 > 0 { out.append(UInt8(truncatingIfNeeded: group >> UInt32(6 - 2 * (index % 4)))) }
        }
        return out
    }
}
