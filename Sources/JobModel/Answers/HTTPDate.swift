// SPDX-License-Identifier: Apache-2.0

/// The three date forms of HTTP (RFC 9110 §5.6.7), without Foundation.
public enum HTTPDate {
    /// Seconds since 1970 UTC; nil if the text has none of the three forms.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    /// The first form may lack the weekday. The weekday is not compared with the date. A year of two digits is the one
    /// within 50 years of `now`'s year. The zone may also be `UTC`, a zone of North America (RFC 822 §5.1) or an offset
    /// like `+0100`.
    public static func parse(_ text: String, now: Int64) -> Int64? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," })
        switch words.count {
        case 6: return modern(words)
        case 4: return twoDigitYear(words, now: now)
        case 5: return number(words[0]) == nil ? asctime(words) : modern([""] + words)
        default: return nil
        }
    }

    private static func modern(_ words: [Substring]) -> Int64? {
        guard let offset = offset(words[5]), words[3].utf8.count == 4 else { return nil }
        return seconds(day: words[1], month: words[2], year: number(words[3]), time: words[4]).map { $0 - offset }
    }

    private static func twoDigitYear(_ words: [Substring], now: Int64) -> Int64? {
        let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard let offset = offset(words[3]), date.count == 3, [2, 4].contains(date[2].utf8.count),
            let written = number(date[2])
        else { return nil }
        var year = written
        if date[2].utf8.count == 2 {
            let thisYear = self.year(ofDay: floorDivide(now, 86_400))
            year = thisYear / 100 * 100 + written
            if year > thisYear + 50 { year -= 100 }
        }
        return seconds(day: date[0], month: date[1], year: year, time: words[2]).map { $0 - offset }
    }

    private static let zones: [Substring: Int64] = [
        "GMT": 0, "UTC": 0, "UT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
        "PST": -8, "PDT": -7,
    ]

    /// Seconds east of UTC; nil for an unknown zone.
    private static func offset(_ zone: Substring) -> Int64? {
        if let hours = zones[zone] { return hours * 3_600 }
        guard zone.utf8.count == 5, let sign = zone.first, sign == "+" || sign == "-",
            let digits = number(zone.dropFirst()), digits / 100 < 24, digits % 100 < 60
        else { return nil }
        let seconds = digits / 100 * 3_600 + digits % 100 * 60
        return sign == "-" ? -seconds : seconds
    }

    private static func asctime(_ words: [Substring]) -> Int64? {
        guard words[4].utf8.count == 4 else { return nil }
        return seconds(day: words[2], month: words[1], year: number(words[4]), time: words[3])
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func seconds(day: Substring, month: Substring, year: Int64?, time: Substring) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let day = number(day), let year, let index = months.firstIndex(of: month), clock.count == 3,
            clock.allSatisfy({ $0.utf8.count == 2 }),
            let hour = number(clock[0]), let minute = number(clock[1]), let second = number(clock[2]),
            (1...days(in: index + 1, of: year)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        return dayNumber(year: year, month: Int64(index + 1), day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.count <= 4, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        return Int64(text)
    }

    static func days(in month: Int, of year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days since 1970-01-01 of the Gregorian calendar. Its years begin in March, so that the leap day is the last day.
    static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let before = shifted * 365 + floorDivide(shifted, 4) - floorDivide(shifted, 100) + floorDivide(shifted, 400)
        return before + dayOfYear - 719_468
    }

    private static func year(ofDay day: Int64) -> Int64 {
        var year = 1970 + floorDivide(day * 400, 146_097)
        while dayNumber(year: year + 1, month: 1, day: 1) <= day { year += 1 }
        while dayNumber(year: year, month: 1, day: 1) > day { year -= 1 }
        return year
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }
}
