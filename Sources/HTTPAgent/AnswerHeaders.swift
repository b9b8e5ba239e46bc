// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The header lines of one answer, as far as a download looks at them, or a wait until a moment that they name.
struct AnswerHeaders {
    private let lines: [Substring]

    /// Takes a block of `name: value` lines with names in lower case.
    init(block: [UInt8]) {
        lines = String(decoding: block, as: UTF8.self).split(separator: "\n")
    }

    /// The value of a header that is there exactly once.
    func single(_ name: String) -> String? {
        let found = lines.filter { $0.hasPrefix(name + ": ") }
        return found.count == 1 ? found.first.map { String($0.dropFirst(name.utf8.count + 2)) } : nil
    }

    /// The size of the body, if the server has said it in a way that binds (RFC 9112 §6.3).
    var contentLength: Int64? {
        guard !lines.contains(where: { $0.hasPrefix("transfer-encoding:") }) else { return nil }
        return single("content-length").flatMap(AnswerHeaders.count)
    }

    /// A strong entity tag of sensible length (RFC 9110 §8.8.3); nil for a weak one.
    var strongETag: String? {
        guard let tag = single("etag"), tag.utf8.count >= 2, tag.utf8.count <= 512, tag.hasPrefix("\""),
            tag.hasSuffix("\""), tag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return nil }
        return tag
    }

    /// Last-Modified where it is a strong validator: a minute older than the answer's own Date, so that a second change
    /// within the same second, or two clocks, cannot deceive (RFC 9110 §8.8.2.2).
    func strongModified(now: Int64) -> String? {
        guard let text = single("last-modified"), text.utf8.count <= 64,
            let modified = HTTPDate.parse(text, now: now),
            let date = single("date").flatMap({ HTTPDate.parse($0, now: now) }), date - modified >= 60
        else { return nil }
        return text
    }

    /// What the server's clock shows, in seconds since 1970: its Date, and the Age of an answer that a cache has kept.
    ///
    /// Without a date, and with one that is more than a day off, which is no clock's, it is `now`, the worker's own.
    func clock(now: Int64) -> Int64 {
        guard let date = single("date").flatMap({ HTTPDate.parse($0, now: now) }) else { return now }
        let age = single("age").flatMap(AnswerHeaders.count) ?? 0
        let shown = date + min(age, 1 << 31)
        return abs(shown - now) <= 86_400 ? shown : now
    }

    /// `bytes 5-9/10` as 5, 9 and 10; nil for what is open or unsatisfied.
    var contentRange: (first: Int64, last: Int64, total: Int64)? {
        guard let (range, total) = rangeParts, let total = AnswerHeaders.count(total) else { return nil }
        let ends = range.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = AnswerHeaders.count(ends[0]), let last = AnswerHeaders.count(ends[1]),
            first <= last, last < total
        else { return nil }
        return (first, last, total)
    }

    /// The size that a 416 names, `bytes */10`.
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
