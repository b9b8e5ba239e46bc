// SPDX-License-Identifier: Apache-2.0

@testable import HTTPAgent
@testable import JobModel

/// Lines of a cookie jar. They must survive the database, and libcurl must get no cookie without a domain.
enum CookieTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        let lines = input.split(separator: 0x0a).map(Array.init)
        for line in lines {
            let text = CookieText.decode(line)
            try expect(CookieText.encode(text) == line, "a line does not survive the database")
            _ = CookieLines.hasExpired(text, now: 1_790_000_000)
            guard (try? CookieLines.check([text])) != nil else { continue }
            try expect(!line.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }, "a control character passes")
            // libcurl recognizes a header by these eleven bytes.
            let isHeader = String(decoding: line.prefix(11), as: UTF8.self).lowercased() == "set-cookie:"
            let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
            try expect(isHeader ? hasDomain(line) : fields.count == 7, "libcurl reads the line in another way")
        }
        let texts = lines.map { CookieText.decode($0) }
        let half = texts.count / 2
        if let changes = CookieChanges(from: Array(texts[..<half]), to: Array(texts[half...])) {
            try expect(!changes.set.isEmpty || !changes.gone.isEmpty, "a change without lines")
        }
    }

    /// Whether an attribute behind the first semicolon is a Domain with a value.
    private static func hasDomain(_ line: [UInt8]) -> Bool {
        line.dropFirst(11).split(separator: 0x3b).dropFirst().contains { attribute in
            let pair = attribute.split(separator: 0x3d, maxSplits: 1)
            guard pair.count == 2 else { return false }
            let name = String(decoding: pair[0], as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
            return name == "domain" && pair[1].contains { $0 != 0x20 && $0 != 0x09 }
        }
    }
}
