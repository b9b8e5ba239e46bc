// SPDX-License-Identifier: Apache-2.0

/// What a server asks for in `Retry-After` (RFC 9110 §10.2.3), as a wait from now.
public enum RetryAfter {
    /// Seconds, also with decimals, or an HTTP date; nil for what is negative or cannot be read.
    ///
    /// A date in the past is no wait. More than 100 years count as 100 years. `now` is in seconds since 1970.
    public static func parse(_ text: String, now: Int64) -> Duration? {
        if let wait = seconds(text) { return wait }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .seconds(min(max(0, date - now), longest))
    }

    private static let longest: Int64 = 100 * 366 * 86_400

    private static func seconds(_ text: String) -> Duration? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.allSatisfy(isDigit) else { return nil }
        var milliseconds: Int64 = 0
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].utf8.allSatisfy(isDigit) else { return nil }
            let digits = Array(parts[1].utf8.prefix(3))
            for place in 0..<3 {
                milliseconds = milliseconds * 10 + (place < digits.count ? Int64(digits[place] - 0x30) : 0)
            }
        }
        // More digits than fit are more than the longest wait.
        return .seconds(min(Int64(whole) ?? longest, longest)) + .milliseconds(milliseconds)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
