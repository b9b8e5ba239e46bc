// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Durations in the form `500ms`, `30s`, `5m`, `2h`.
enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// The duration. Nil unless the text is a whole number directly followed by its unit.
    static func parse(_ text: String) -> Duration? {
        // `ms` ends in `s`, so it is tried first.
        for unit in units where text.hasSuffix(unit.suffix) {
            guard let number = wholeNumber(text.dropLast(unit.suffix.count)) else { continue }
            let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
            return overflow ? nil : .milliseconds(milliseconds)
        }
        return nil
    }

    /// The shortest text that `parse` reads back, exact to the millisecond.
    static func format(_ duration: Duration) -> String {
        let milliseconds = Int(duration.wholeMilliseconds)
        for unit in units.reversed() where milliseconds % unit.milliseconds == 0 && milliseconds >= unit.milliseconds {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
    }

    /// A number of digits only. `Int(_:)` would also accept a sign.
    static func wholeNumber(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
