// SPDX-License-Identifier: Apache-2.0

@testable import JobModel
@testable import WorkerCLI

/// Texts that are shown to be copied: SQL literals, words of a shell, JSON.
///
/// The first byte has flags, the second the number of headers. Then come the URL, the headers and the body.
enum QuotingTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        let flags = reader.byte()
        let headerCount = Int(reader.byte() & 3)
        let url = reader.text()
        let lines = (0..<headerCount).map { _ in "X-A: " + reader.text() }
        let body = Array(reader.rest)
        for text in [url, String(decoding: body, as: UTF8.self)] {
            try expect(SQLLiteral.value(SQLText.quoted(text)) == Array(text.utf8), "a text leaves its SQL literal")
            let json = JSONText.quoted(text)
            try expect(!json.utf8.dropFirst().dropLast().contains { $0 < 0x20 }, "JSON with a control character")
        }
        let request = SentRequest(
            method: flags & 1 == 0 ? .get : .post, url: "http://h/" + url, lines: lines,
            body: flags & 2 == 0 ? .bytes(body, contentType: nil) : part(body), sendsBody: flags & 4 != 0,
            isGzip: false, transport: nil)
        guard let command = try? CurlCommand.text(of: request, mask: "MASKED") else { return }
        try check(command, request)
    }

    private static func part(_ bytes: [UInt8]) -> RequestBody {
        .parts([BodyPart(name: "p", content: .bytes(bytes), filename: "f", type: "text/plain")])
    }

    /// A shell splits the command into curl and its arguments, and nothing of the request becomes a command.
    private static func check(_ command: String, _ request: SentRequest) throws(Finding) {
        let isText = ([request.url] + request.lines).allSatisfy { ShellText.isShowable($0) && !$0.contains("MASKED") }
        try expect(
            !command.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" }, "a control character")
        // Control characters and secrets need a running shell.
        guard isText, !command.hasPrefix("printf "), !command.contains("$(printf"),
            !command.contains("POSTRIDER_SECRET")
        else { return }
        let words: [String]
        do throws(CommandError) {
            words = try ShellWords.split(command)
        } catch {
            throw Finding(description: "no words of a shell: \(error.message)")
        }
        func has(_ text: String) -> Bool { words.contains { Array($0.utf8) == Array(text.utf8) } }
        try expect(words.first == "curl", "the command does not begin with curl")
        try expect(has(request.url), "the URL is no word of its own")
        for line in request.lines where line.utf8.count < 1000 && !line.lowercased().contains("authorization") {
            try expect(has(line), "a header is no word of its own")
        }
        let options = words.count { $0.utf8.first == 0x2d }
        let texts = ([request.url] + request.lines).count { $0.utf8.first == 0x2d }
        try expect(options <= 8 + request.lines.count + texts, "more options than the request has parts")
    }
}

/// Reads a literal as PostgreSQL does.
enum SQLLiteral {
    /// The bytes of the value. Nil unless the text is exactly one literal.
    static func value(_ literal: String) -> [UInt8]? {
        var rest = Array(literal.utf8)[...]
        let isEscaped = rest.first == 0x45
        if isEscaped { rest = rest.dropFirst() }
        guard rest.popFirst() == 0x27 else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == 0x27 {
                guard rest.first == 0x27 else { return rest.isEmpty ? bytes : nil }
                rest = rest.dropFirst()
                bytes.append(0x27)
            } else if byte == 0x5c {
                guard isEscaped, rest.popFirst() == 0x5c else { return nil }
                bytes.append(0x5c)
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }

    /// The statement with `?` in place of each literal. Nil if a literal has no end.
    static func skeleton(_ statement: String) -> String? {
        var out: [UInt8] = []
        var rest = Array(statement.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x27 else {
                out.append(byte)
                continue
            }
            let isEscaped = out.last == 0x45 && (out.dropLast().last.map { !isName($0) } ?? true)
            var isOpen = true
            while isOpen {
                guard let next = rest.popFirst() else { return nil }
                if next == 0x5c, isEscaped {
                    rest = rest.dropFirst()
                } else if next == 0x27 {
                    if rest.first == 0x27 { rest = rest.dropFirst() } else { isOpen = false }
                }
            }
            out.append(0x3f)
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte == 0x5f || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            || byte > 0x7f
    }
}
