// SPDX-License-Identifier: Apache-2.0

/// The standard alphabet with padding (RFC 4648 §4), for Basic credentials.
enum Base64 {
    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
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
}
