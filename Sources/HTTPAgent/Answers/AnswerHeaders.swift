// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The header lines of one answer, for downloads and for waits until a moment.
struct AnswerHeaders {
    private let lines: [Substring]

    /// Takes a block of `name: value` lines with names in lower case.
    init(block: [UInt8]) {
        lines = String(decoding: block, as: UTF8.self).split(separator: "\n")
    }

    /// The value of a header that occurs exactly once; nil otherwise.
    func single(_ name: String) -> String? {
        let found = lines.filter { $0.hasPrefix(name + ": ") }
        return found.count == 1 ? found.first.map { String($0.dropFirst(name.utf8.count + 2)) } : nil
    }

    /// The size of the body, if the server has stated it bindingly (RFC 9112 §6.3).
    var contentLength: Int64? {
        guard !lines.contains(where: { $0.hasPrefix("transfer-encoding:") }) else { return nil }
        return single("content-length").flatMap(AnswerHeaders.count)
    }

    /// A strong entity tag of 2 to 512 bytes (RFC 9110 §8.8.3); nil for a weak one.
    var strongETag: String? {
        guard let tag = single("etag"), tag.utf8.count >= 2, tag.utf8.count <= 512, tag.hasPrefix("\""),
            tag.hasSuffix("\""), tag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return nil }
        return tag
    }

    /// Last-Modified if it is a strong validator, which means a minute older than the answer's Date (RFC 9110
    /// §8.8.2.2). So neither a second change within one second nor a difference of clocks can deceive.
    func strongModified(now: Int64) -> String? {
        guard let text = single("last-modified"), text.utf8.count <= 64,
            let modified = HTTPDate.parse(text, now: now),
            let date = single("date").flatMap({ HTTPDate.parse($0, now: now) }), date - modified >= 60
        else { return nil }
        return text
    }

    /// The server's clock in seconds since 1970: its Date, plus the Age of an answer that a cache has kept.
    ///
    /// Without a date the result is `now`, the worker's time. The same holds for a date that is more than a day off,
    /// which no real clock shows.
    func clock(now: Int64) -> Int64 {
        guard let date = single("date").flatMap({ HTTPDate.parse($0, now: now) }) else { return now }
        let age = single("age").flatMap(AnswerHeaders.count) ?? 0
        let shown = date + min(age, 1 << 31)
        return abs(shown - now) <= 86_400 ? shown : now
    }

    /// `bytes 5-9/10` as 5, 9 and 10. Nil if a part is open or the range was refused.
    var contentRange: (first: Int64, last: Int64, total: Int64)? {
        guard let (range, total) = rangeParts, let total = AnswerHeaders.count(total) else { return nil }
        let ends = range.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = AnswerHeaders.count(ends[0]), let last = AnswerHeaders.count(ends[1]),
            first <= last, last < total
        else { return nil }
        return (first, last, total)
    }

    /// The size in the answer of a 416, `bytes */10`.
    var unsatisfiedTotal: Int64? {
        guard let (range, total) = rangeParts, range == "*" else { return nil }
        return AnswerHeaders.count(total)
    }

    private var rangeParts: (Substring, Substring)? {
        guard let text = single("content-range"), text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    private static func count(_ text: some StringProtocol) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
