// SPDX-License-Identifier: Apache-2.0

/// Several texts for one C call, each ended by NUL, in one block.
struct CStrings {
    private(set) var bytes: [CChar] = []

    /// Adds a text and says where it begins; nil stays nil. A text ends at its first NUL for C.
    mutating func add(_ text: String?) -> Int? {
        guard let text else { return nil }
        let start = bytes.count
        add(text.utf8)
        return start
    }

    /// Adds a text that need not be UTF-8.
    mutating func add(_ text: some Collection<UInt8>) {
        bytes.append(contentsOf: text.lazy.map { CChar(bitPattern: $0) })
        bytes.append(0)
    }
}
