// SPDX-License-Identifier: Apache-2.0

/// Sizes of memory in the form `268435456`, `512KiB`, `256MiB`, `1GiB`.
enum SizeText {
    private static let units: [(suffix: String, bytes: Int)] = [
        ("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]

    /// The bytes. Nil unless the text is a whole number, directly followed by its unit if it has one.
    static func parse(_ text: String) -> Int? {
        for unit in units where text.hasSuffix(unit.suffix) {
            guard let number = DurationText.wholeNumber(text.dropLast(unit.suffix.count)) else { continue }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
            return overflow ? nil : bytes
        }
        return nil
    }

    /// The shortest text that `parse` reads back as the same number.
    static func format(_ bytes: Int) -> String {
        for unit in units.reversed() where bytes >= unit.bytes && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.suffix)"
        }
        return "\(bytes)"
    }

    /// The size for people, rounded down to whole MiB.
    static func rounded(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
}
