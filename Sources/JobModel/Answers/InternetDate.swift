// SPDX-License-Identifier: Apache-2.0

/// The dates of JSON and logs (RFC 3339), like `2026-11-22T09:30:00Z`, without Foundation.
public enum InternetDate {
    /// Seconds since 1970 UTC, fractions rounded up. Nil if the text is no such date with an offset from UTC.
    public static func parse(_ text: String) -> Int64? {
        let bytes = [UInt8](text.utf8)
        guard bytes.count >= 20, bytes.count <= 40,
            let year = number(bytes[0..<4]), bytes[4] == minus, let month = number(bytes[5..<7]), bytes[7] == minus,
            let day = number(bytes[8..<10]), [0x54, 0x74, 0x20].contains(bytes[10]),
            let hour = number(bytes[11..<13]), bytes[13] == colon, let minute = number(bytes[14..<16]),
            bytes[16] == colon, let second = number(bytes[17..<19]),
            (1...12).contains(month), (1...HTTPDate.days(in: Int(month), of: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        var rest = bytes[19...]
        var hasMore = false
        if rest.first == 0x2e {
            let decimals = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !decimals.isEmpty else { return nil }
            hasMore = decimals.contains { $0 != 0x30 }
            rest = bytes[decimals.endIndex...]
        }
        guard let offset = offset(rest) else { return nil }
        let days = HTTPDate.dayNumber(year: year, month: month, day: day)
        return days * 86_400 + hour * 3_600 + minute * 60 + second + (hasMore ? 1 : 0) - offset
    }

    private static let minus: UInt8 = 0x2d
    private static let colon: UInt8 = 0x3a

    /// Seconds east of UTC: `Z`, `+02:00` or `+0200`.
    private static func offset(_ bytes: ArraySlice<UInt8>) -> Int64? {
        var bytes = [UInt8](bytes)
        if bytes == [0x5a] || bytes == [0x7a] { return 0 }
        if bytes.count == 5 { bytes.insert(colon, at: 3) }
        guard bytes.count == 6, bytes[0] == 0x2b || bytes[0] == minus, bytes[3] == colon,
            let hours = number(bytes[1..<3]), let minutes = number(bytes[4..<6]), hours < 24, minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (bytes[0] == minus ? -1 : 1)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
