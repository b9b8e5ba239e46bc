// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel

/// A curl command that was read: the request that it would send. Pure, apart from the files that `read` opens.
struct CurlLine {
    /// Reads the file behind an `@`; `-` is standard input.
    typealias Reader = (String) throws(CommandError) -> [UInt8]

    private(set) var method: String?
    private var url: String?
    private(set) var headers: [HTTPHeader] = []
    /// Headers of curl that the command removes, in lower case.
    private(set) var removed: Set<String> = []
    /// The body of the data options; nil: no such option was given.
    private(set) var data: [UInt8]?
    private(set) var parts: [CurlPart] = []
    private var login: String?
    private var cookies: [String] = []
    private(set) var seconds: String?
    private(set) var redirects: Int?
    private var isGet = false
    private var isJSON = false
    private(set) var isHead = false
    private var isLiteral = false
    private(set) var follows = false

    /// Reads the text of a command.
    ///
    /// - Throws: `usage` with the option, the reason and a remedy.
    init(_ text: String, read: Reader) throws(CommandError) {
        var words = try ShellWords.split(text)[...]
        guard let program = words.popFirst(), program == "curl" || program.hasSuffix("/curl") else {
            throw .usage("--curl", "the text does not begin with curl", "give a command like \(CurlLine.example)")
        }
        while let word = words.popFirst() {
            if word == "--" {
                for rest in words { try take(url: rest) }
                break
            } else if word.hasPrefix("--") {
                try take(word, value: { words.popFirst() }, read)
            } else if word.hasPrefix("-"), word.count > 1 {
                try take(letters: word, &words, read)
            } else {
                try take(url: word)
            }
        }
    }

    static let example = "'curl -X POST https://api.example.com/ping'"

    /// A refused option, header or value.
    static func refusal(_ place: String, _ reason: String, _ remedy: String) -> CommandError {
        .usage("--curl \(place)", reason, remedy)
    }

    /// Joined short options like `-sXPOST`: the first that takes a value takes the rest of the word.
    private mutating func take(
        letters word: String, _ words: inout ArraySlice<String>, _ read: Reader
    ) throws(CommandError) {
        var rest = word.dropFirst()
        while let letter = rest.popFirst() {
            var used = false
            let joined = rest.isEmpty ? nil : String(rest)
            let next = words.first
            try take(
                "-\(letter)",
                value: {
                    used = true; return joined ?? next
                }, read)
            guard used else { continue }
            if joined == nil { words = words.dropFirst() }
            return
        }
    }

    private mutating func take(_ name: String, value: () -> String?, _ read: Reader) throws(CommandError) {
        guard let effect = CurlOption.effect(name) else {
            throw CurlLine.refusal(quoted(name), "the option is unknown or means nothing for a job", "leave it out")
        }
        guard effect.takesValue else { return try take(effect, name) }
        guard let value = value() else { throw CurlLine.refusal(name, "its value is missing", "give one") }
        switch effect {
        case .method: method = value
        case .url: try take(url: value)
        case .header: try take(header: value)
        case .data(let kind): try take(data: value, kind, read)
        case .form(let isLiteral): parts.append(try CurlPart(value, isLiteral: isLiteral, read: read))
        case .user: login = value
        case .cookie:
            guard value.contains("=") else {
                throw CurlLine.refusal(name, "a file of cookies is not read", "give cookies like -b 'id=7; theme=dark'")
            }
            cookies.append(value)
        case .agent: headers.append(HTTPHeader("User-Agent", value))
        case .referer: headers.append(HTTPHeader("Referer", value))
        case .bearer: headers.append(HTTPHeader("Authorization", "Bearer \(value)"))
        case .time:
            guard let number = Double(value), number > 0, number <= 86_400 else {
                throw CurlLine.refusal(name, "\(quoted(value)) is not a time", "give seconds up to 86400, like 12.5")
            }
            seconds = value
        case .redirects:
            guard let number = Int(value), (0...10).contains(number) else {
                throw CurlLine.refusal(name, "a job follows 0 to 10 redirects", "give such a number")
            }
            redirects = number
        default: break
        }
    }

    private mutating func take(_ effect: CurlOption.Effect, _ name: String) throws(CommandError) {
        switch effect {
        case .get: isGet = true
        case .follow: follows = true
        case .head: isHead = true
        case .literal: isLiteral = true
        case .refused(let reason, let remedy): throw CurlLine.refusal(name, reason, remedy)
        default: break
        }
    }

    private mutating func take(url text: String) throws(CommandError) {
        guard url == nil else {
            throw CurlLine.refusal("URL", "there is more than one", "give one command for each URL")
        }
        url = text
    }

    private mutating func take(header text: String) throws(CommandError) {
        guard !text.hasPrefix("@") else {
            throw CurlLine.refusal("-H", "a file of headers is not read", "give each header with -H")
        }
        guard let end = text.firstIndex(where: { ":;".contains($0) }) else {
            throw CurlLine.refusal("-H", "it has no colon", "give one like -H 'Accept: application/json'")
        }
        let name = String(text[..<end])
        let value = String(text[text.index(after: end)...].drop { $0 == " " || $0 == "\t" })
        if text[end] == ":", value.isEmpty {
            removed.insert(name.lowercased())
        } else {
            headers.append(HTTPHeader(name, text[end] == ";" ? "" : value))
        }
    }

    private mutating func take(data text: String, _ kind: CurlOption.Data, _ read: Reader) throws(CommandError) {
        let added: [UInt8]
        switch kind {
        case .raw: added = Array(text.utf8)
        case .encoded: added = try CurlLine.encoded(text, read)
        case .ascii, .binary, .json:
            if !text.hasPrefix("@") {
                added = Array(text.utf8)
            } else if case .ascii = kind {
                added = try read(String(text.dropFirst())).filter { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            } else {
                added = try read(String(text.dropFirst()))
            }
        }
        var joined = data ?? []
        if case .json = kind {
            isJSON = true
        } else if data != nil {
            joined.append(UInt8(ascii: "&"))
        }
        data = joined + added
    }

    /// The value of `--data-urlencode`.
    private static func encoded(_ text: String, _ read: Reader) throws(CommandError) -> [UInt8] {
        guard let sign = text.firstIndex(where: { "=@".contains($0) }) else {
            return percent(Array(text.utf8), spaceIsPlus: true)
        }
        let name = text[..<sign]
        let rest = String(text[text.index(after: sign)...])
        let content = percent(text[sign] == "@" ? try read(rest) : Array(rest.utf8), spaceIsPlus: true)
        return name.isEmpty ? content : Array("\(name)=".utf8) + content
    }

    private static func percent(_ bytes: [UInt8], spaceIsPlus: Bool = false) -> [UInt8] {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let hex = Array("0123456789ABCDEF".utf8)
        return bytes.flatMap { byte in
            if byte == UInt8(ascii: " "), spaceIsPlus { return [UInt8(ascii: "+")] }
            return unreserved.contains(byte) ? [byte] : [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
        }
    }
}

extension CurlLine {
    /// The headers with those that curl adds for its options, checked.
    func sentHeaders() throws(CommandError) -> [HTTPHeader] {
        var all: [HTTPHeader] = []
        for header in headers {
            let name = header.name.lowercased()
            // The worker sends these itself, with the same meaning.
            if name == "content-length" || name == "connection" && header.value.lowercased() == "keep-alive" {
                continue
            }
            if let reason = RequestHeaders.reason(against: header) {
                throw CurlLine.refusal("-H \(quoted(header.name))", reason, "leave it out")
            }
            all.append(header)
        }
        for name in ["accept", "user-agent"] where removed.contains(name) {
            throw CurlLine.refusal(
                "-H '\(name):'", "a worker always sends this header", "leave it out, or give a value")
        }
        func add(_ name: String, _ value: String) {
            let lower = name.lowercased()
            if !removed.contains(lower), !all.contains(where: { $0.name.lowercased() == lower }) {
                all.append(HTTPHeader(name, value))
            }
        }
        if !cookies.isEmpty { add("Cookie", cookies.joined(separator: "; ")) }
        if isJSON { add("Accept", "application/json") }
        if body != nil { add("Content-Type", isJSON ? "application/json" : "application/x-www-form-urlencoded") }
        return all
    }

    /// The bytes of the body; nil: none, or parts.
    var body: [UInt8]? { isGet ? nil : data }

    /// The method, which curl chooses by the options if none is given.
    func sentMethod() throws(CommandError) -> HTTPMethod {
        let hasBody = body != nil || !parts.isEmpty
        if body != nil, !parts.isEmpty {
            throw CurlLine.refusal("-F", "a request cannot have a form of -F and data of -d", "give one of them")
        } else if isHead, hasBody {
            throw CurlLine.refusal("-I", "a HEAD request has no body", "leave out -I or the body")
        } else if isGet, !parts.isEmpty {
            throw CurlLine.refusal("-G", "the parts of -F cannot go into a URL", "give -d instead of -F")
        }
        let name = method ?? (isHead ? "HEAD" : hasBody ? "POST" : "GET")
        guard let known = HTTPMethod(rawValue: name) else {
            let all = HTTPMethod.allCases.map(\.rawValue).joined(separator: ", ")
            throw CurlLine.refusal("-X \(quoted(name))", "it is not a method of a job", "give one of \(all)")
        }
        if known == .head, hasBody {
            throw CurlLine.refusal("-X HEAD", "a HEAD request has no body", "leave out the body")
        }
        return known
    }

    /// The URL with the data of -G and the login of -u. No view shows a login in a URL.
    func sentURL() throws(CommandError) -> String {
        guard var text = url, !text.isEmpty else {
            throw CurlLine.refusal("URL", "it is missing", "give one like https://api.example.com/ping")
        }
        if !text.contains("://") { text = "http://" + text }
        guard let mark = text.firstRange(of: "://"), ["http", "https"].contains(text[..<mark.lowerBound].lowercased())
        else { throw CurlLine.refusal("URL", "a job calls http and https only", "give such a URL") }
        let isHostInBrackets = text[mark.upperBound...].hasPrefix("[")
        let path = text[mark.upperBound...].drop { isHostInBrackets && $0 != "]" }.dropFirst(isHostInBrackets ? 1 : 0)
        if !isLiteral, path.contains(where: { "{}[]".contains($0) }) {
            throw CurlLine.refusal(
                "URL", "curl takes its braces or brackets for a list of URLs", "add -g, or encode them")
        }
        if isGet, let data, !data.isEmpty {
            guard let query = String(validating: data, as: UTF8.self) else {
                throw CurlLine.refusal("-G", "the data is not UTF-8 text", "give text, or --data-urlencode")
            }
            let fragment = text.firstIndex(of: "#") ?? text.endIndex
            text = text[..<fragment] + (text[..<fragment].contains("?") ? "&" : "?") + query + text[fragment...]
        }
        guard let login else { return text }
        guard let colon = login.firstIndex(of: ":") else {
            throw CurlLine.refusal("-u", "the password is missing", "give -u USER:PASSWORD")
        }
        let rest = text[mark.upperBound...]
        let host = rest.prefix { !"/?#".contains($0) }
        let bare = host.lastIndex(of: "@").map { host[host.index(after: $0)...] } ?? host
        let name = String(decoding: CurlLine.percent(Array(login[..<colon].utf8)), as: UTF8.self)
        let password = String(
            decoding: CurlLine.percent(Array(login[login.index(after: colon)...].utf8)), as: UTF8.self)
        return text[..<mark.upperBound] + "\(name):\(password)@" + bare + rest[host.endIndex...]
    }
}
