// SPDX-License-Identifier: Apache-2.0

/// One wait that a header asks for, in any form that servers use.
///
/// - Seconds from now, with or without decimals. From 10⁹ on they are seconds since 1970, from 10¹² on milliseconds.
/// - A date of HTTP with any zone, or of RFC 3339.
/// - A duration like `3s`, `1m0s` or `500ms`.
public enum WaitingTime {
    /// The unit of a number below 10¹². Larger numbers are always milliseconds since 1970.
    public enum Unit: Sendable {
        case seconds
        case milliseconds
    }

    /// The longest wait: an hour. A longer one counts as an hour.
    public static let longest: Duration = .seconds(3_600)

    /// The wait from now, at most an hour. Zero for a moment in the past. Nil if the text has none of the forms.
    ///
    /// - Parameter now: seconds since 1970.
    public static func parse(_ text: some StringProtocol, unit: Unit = .seconds, now: Int64) -> Duration? {
        let text = trimmed(Substring(text))
        guard text.utf8.count <= 100 else { return nil }
        let seconds: Double
        if let value = number(text) {
            switch value {
            case 1e12...: seconds = value / 1000 - Double(now)
            case _ where unit == .milliseconds: seconds = value / 1000
            case 1e9...: seconds = value - Double(now)
            default: seconds = value
            }
        } else if let length = duration(text) {
            seconds = length
        } else if let date = HTTPDate.parse(String(text), now: now) ?? InternetDate.parse(String(text)) {
            seconds = Double(date - now)
        } else {
            return nil
        }
        guard seconds < 3_600 else { return longest }
        return .milliseconds(Int64((max(0, seconds) * 1000).rounded(.up)))
    }

    /// Reads digits with or without decimals. Signs and exponents are refused.
    static func number(_ text: Substring) -> Double? {
        guard let first = text.utf8.first, first != 0x2e, text.utf8.last != 0x2e,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2e })
        else { return nil }
        return Double(text)
    }

    static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    private static let units: [(name: String, seconds: Double)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9),
    ]

    /// The seconds of numbers with units, larger units first, in the form of Go's durations.
    private static func duration(_ text: Substring) -> Double? {
        var rest = text
        var sum = 0.0
        var lastUnit = -1
        while !rest.isEmpty {
            let digits = rest.prefix { $0 == "." || $0.isASCII && $0.isWholeNumber }
            rest = rest[digits.endIndex...]
            let name = rest.prefix { $0 != "." && !($0.isASCII && $0.isWholeNumber) }
            rest = rest[name.endIndex...]
            guard let value = number(digits),
                let unit = units.firstIndex(where: { $0.name == name.lowercased() }), unit > lastUnit
            else { return nil }
            sum += value * units[unit].seconds
            lastUnit = unit
        }
        return text.isEmpty ? nil : sum
    }
}
