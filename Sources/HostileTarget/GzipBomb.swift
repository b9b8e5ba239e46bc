// SPDX-License-Identifier: Apache-2.0

/// Streams of gzip. The one without end is made of a header and of a block that unpacks 1,037 bytes to 1 MiB of zeros.
enum GzipBomb {
    /// RFC 1952 §2.3, no name and no time.
    static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    /// A whole stream of its own that unpacks to `ok`.
    static let ok: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0xCF, 6, 0, 0x47, 0xDD, 0xDC, 0x79, 2, 0, 0, 0]
    /// How much a block becomes.
    static let blockSize = 1 << 20

    /// A dynamic-Huffman deflate block that stands for itself (it ends in a full flush): the code tables, then
    /// the code of "258 bytes as before", which is one zero bit and one for the distance, some 4,000 times.
    static let block: [UInt8] =
        [0xEC, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8, 0x5F, 0xA0]
        + [UInt8](repeating: 0, count: 1_016) + [0x3E, 3, 0, 0, 0xFF, 0xFF]
}
