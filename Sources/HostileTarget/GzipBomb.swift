// SPDX-License-Identifier: Apache-2.0

/// Gzip streams. The endless one has a header and a repeated block that decompresses 1,037 bytes to 1 MiB of zeros.
enum GzipBomb {
    /// The header, without a name or time (RFC 1952 §2.3).
    static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    /// A complete stream that decompresses to `ok`.
    static let ok: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0xCF, 6, 0, 0x47, 0xDD, 0xDC, 0x79, 2, 0, 0, 0]
    static let blockSize = 1 << 20

    /// A self-contained deflate block with dynamic Huffman codes, which ends in a full flush. After the code tables
    /// follows the code of "258 bytes as before" about 4,000 times. It has one zero bit for the length and one for the
    /// distance.
    static let block: [UInt8] =
        [0xEC, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8, 0x5F, 0xA0]
        + [UInt8](repeating: 0, count: 1_016) + [0x3E, 3, 0, 0, 0xFF, 0xFF]
}
