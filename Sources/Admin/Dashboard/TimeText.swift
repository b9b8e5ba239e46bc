// SPDX-License-Identifier: Apache-2.0

/// Times in the arguments of a URL: `2026-01-31`, `2026-01-31 18:00`, `2026-01-31T18:00:59.5Z`,
/// `2026-01-31T18:00+01:00`. Without a zone they are in UTC. Pure.
enum TimeText {
    /// Whether PostgreSQL reads the text as one time.
    static func isValid(_ text: String) -> Bool {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        guard let year = scanner.number(4), year > 0, scanner.take("-"), let month = scanner.number(2),
            (1...12).contains(month), scanner.take("-"), let day = scanner.number(2),
            (1...days(month, year)).contains(day)
        else { return false }
        if scanner.rest.isEmpty { return true }
        guard scanner.take("T") || scanner.take(" "), let hour = scanner.number(2), hour < 24, scanner.take(":"),
            let minute = scanner.number(2), minute < 60
        else { return false }
        if scanner.take(":") {
            guard let second = scanner.number(2), second < 60 else { return false }
            if scanner.take(".") {
                guard (1...6).contains(scanner.digits()) else { return false }
            }
        }
        if scanner.rest.isEmpty || scanner.take("Z") { return scanner.rest.isEmpty }
        guard scanner.take("+") || scanner.take("-"), let zone = scanner.number(2), zone < 15 else { return false }
        if scanner.rest.isEmpty { return true }
        guard scanner.take(":"), let part = scanner.number(2) else { return false }
        return part < 60 && scanner.rest.isEmpty
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        /// A number of exactly this many digits.
        mutating func number(_ digits: Int) -> Int? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        /// Skips digits and returns how many there were.
        mutating func digits() -> Int {
            let part = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(part.count)
            return part.count
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }
    }
}
