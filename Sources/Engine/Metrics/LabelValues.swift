// SPDX-License-Identifier: Apache-2.0

/// The values of one label, each with a number. Pure.
///
/// Prometheus keeps a time series for each combination of label values. So a label has at most 200 values, and all
/// later ones count as `other`.
struct LabelValues: Sendable {
    /// The number of `other`.
    static let other: UInt16 = 0
    /// The most values, `other` included.
    static let limit = 200

    private var names = ["other"]
    private var numbers: [String: UInt16] = ["other": LabelValues.other]

    /// The number of a value.
    mutating func number(of name: String) -> UInt16 {
        if let number = numbers[name] { return number }
        guard names.count < LabelValues.limit else { return LabelValues.other }
        let number = UInt16(names.count)
        names.append(name)
        numbers[name] = number
        return number
    }

    /// The value with a number.
    func name(_ number: UInt16) -> String { names[Int(number)] }
}
