// SPDX-License-Identifier: Apache-2.0

/// Several texts for one C call in one block. Each ends with NUL.
struct CStrings {
    private(set) var bytes: [CChar] = []

    /// Adds a text and returns where it begins; nil stays nil. For C a text ends at its first NUL.
    mutating func add(_ text: String?) -> Int? {
        guard let text else { return nil }
        let start = bytes.count
        add(text.utf8)
        return start
    }

    /// Adds a text that may have any encoding.
    mutating func add(_ text: some Collection<UInt8>) {
        bytes.append(contentsOf: text.lazy.map { CChar(bitPattern: $0) })
        bytes.append(0)
    }
}
