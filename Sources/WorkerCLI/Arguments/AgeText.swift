// SPDX-License-Identifier: Apache-2.0

/// Ages in the form of `DurationText`, and in days: `90s`, `30m`, `2h`, `7d`.
enum AgeText {
    /// The age in seconds. Nil if the text is no age.
    static func seconds(_ text: String) -> Double? {
        if text.hasSuffix("d") { return DurationText.wholeNumber(text.dropLast()).map { Double($0) * 86_400 } }
        return DurationText.parse(text).map { $0 / .seconds(1) }
    }
}
