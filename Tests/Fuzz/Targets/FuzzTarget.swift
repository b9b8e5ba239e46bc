// SPDX-License-Identifier: Apache-2.0

/// The parsers of outside bytes. Each case has a folder in `Tests/Fuzz/Corpus`.
///
/// A target runs one parser with any bytes. A trap, an error of a sanitizer, a broken rule and a long time are findings.
enum FuzzTarget: String, CaseIterable {
    /// An answer as libcurl delivers it, and its headers.
    case answer
    /// gzip and deflate.
    case coding
    /// Retry-After, quotas and the dates of HTTP and RFC 3339.
    case waits
    /// Lines of a cookie jar.
    case cookies
    /// URLs, redirects and proxies, and URLs without their secrets.
    case url
    /// A request as a command of curl, and SQL literals.
    case quoting
    /// A command of curl as a job.
    case curl
    /// OpenAPI documents in JSON and YAML.
    case openapi
    /// JSON and YAML values.
    case json
    /// XML.
    case xml
    /// Secrets, keys, tokens and templates of refreshes.
    case secrets
    /// Rows and arrays of PostgreSQL in binary form.
    case rows
    /// Requests to the pages: headers, queries, forms.
    case admin
    /// The HTTP server of the pages.
    case server
    /// Flags, addresses, connection strings, notifications, traces.
    case arguments
    /// Notes next to incomplete downloads.
    case note

    /// Runs the parser.
    ///
    /// - Throws: the broken rule.
    func run(_ input: [UInt8]) throws(Finding) {
        switch self {
        case .answer: try AnswerTarget.run(input)
        case .coding: try CodingTarget.run(input)
        case .waits: try WaitTarget.run(input)
        case .cookies: try CookieTarget.run(input)
        case .url: try URLTarget.run(input)
        case .quoting: try QuotingTarget.run(input)
        case .curl: try CurlTarget.run(input)
        case .openapi: try DocumentTarget.run(input)
        case .json: try JSONTarget.run(input)
        case .xml: try XMLTarget.run(input)
        case .secrets: try SecretTarget.run(input)
        case .rows: try RowTarget.run(input)
        case .admin: try AdminTarget.run(input)
        case .server: try ServerTarget.run(input)
        case .arguments: try ArgumentTarget.run(input)
        case .note: try NoteTarget.run(input)
        }
    }
}

/// A rule that does not hold for an input.
struct Finding: Error, CustomStringConvertible {
    let description: String
}

/// Throws a finding unless the condition is true.
func expect(_ condition: Bool, _ rule: @autoclosure () -> String) throws(Finding) {
    if !condition { throw Finding(description: rule()) }
}

/// The parts of an input: the first bytes as numbers, then texts that end with a zero byte.
struct InputReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    /// The next byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// True for odd bytes.
    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// The bytes up to the next zero.
    mutating func bytes() -> [UInt8] {
        let part = rest.prefix { $0 != 0 }
        rest = rest.dropFirst(part.count + 1)
        return Array(part)
    }

    /// The bytes up to the next zero as text, repaired.
    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// All other parts as texts.
    mutating func texts() -> [String] {
        var texts: [String] = []
        while !rest.isEmpty { texts.append(text()) }
        return texts
    }
}
