// SPDX-License-Identifier: Apache-2.0

/// A request as a command of curl that sends the same bytes.
///
/// Each secret becomes a variable of the shell: `$POSTRIDER_SECRET`, or `$POSTRIDER_SECRET_1` and so on if there are
/// several, in the order of the command.
public struct CurlCommand {
    /// Why curl cannot send the request, as one sentence.
    public struct Unsayable: Error, Equatable, Sendable {
        /// The sentence.
        public let message: String
    }

    /// Larger bodies go through a pipe, because Linux limits one argument to 128 KiB.
    private static let longestArgument = 100_000

    /// The options, each with its values. The first has the method and the URL.
    private var options: [[String]] = []
    /// The text that is written to the standard input of curl; nil: nothing.
    private var input: Input?

    /// The standard input of curl.
    private enum Input {
        case text(String)
        case bytes([UInt8])
    }

    /// The command of a request whose secrets are masked.
    ///
    /// - Parameter mask: stands for each secret. `"maskn"`, quotes included, stands for a secret JSON value without
    ///   quotes, such as a number.
    public static func text(of request: SentRequest, mask: String) throws(Unsayable) -> String {
        var command = CurlCommand()
        command.addTarget(request)
        command.addLines(request, mask: mask)
        if request.sendsBody { try command.addBody(request, mask: mask) }
        if let transport = request.transport { command.addTransport(transport) }
        return command.written(isGzip: request.isGzip, mask: mask)
    }

    private mutating func addTarget(_ request: SentRequest) {
        var words: [String] = []
        switch request.method {
        case .get where !request.sendsBody: break
        case .head: words = ["-I"]
        default: words = ["-X", request.method.rawValue]
        }
        // curl would take brackets and braces for lists of URLs.
        if request.url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("-g") }
        options.append(words + [request.url])
    }

    private mutating func addLines(_ request: SentRequest, mask: String) {
        let isLarge = request.body.isParts || CurlCommand.bytes(of: request.body).count >= 1 << 20
        for line in request.lines {
            // curl sends Expect only with large bodies and parts.
            if line == "Expect:", !isLarge { continue }
            if let login = CurlCommand.login(in: line, mask: mask) {
                options.append(["-u", login])
            } else {
                options.append(["-H", line])
            }
            if line.hasPrefix("Accept-Encoding: "), !line.hasSuffix(" identity") { options.append(["--compressed"]) }
        }
    }

    /// User and password of Basic authentication, if one of them is secret.
    static func login(in line: String, mask: String) -> String? {
        let start = "authorization: basic "
        guard line.lowercased().hasPrefix(start),
            let bytes = Base64.decode(String(line.dropFirst(start.count)))
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return ByteText.count(mask, in: text) > 0 ? text : nil
    }

    private static func bytes(of body: RequestBody) -> [UInt8] {
        switch body {
        case .none, .parts: []
        case .bytes(let bytes, _): bytes
        case .form(let fields): PercentEncoding.encode(fields, space: .plus)
        }
    }

    private mutating func addBody(_ request: SentRequest, mask: String) throws(Unsayable) {
        if case .parts(let parts) = request.body {
            for part in parts { try add(part, mask: mask) }
            return
        }
        let bytes = CurlCommand.bytes(of: request.body)
        let text = CurlCommand.showable(bytes).map { ByteText.replace("\"\(mask)n\"", with: mask, in: $0) }
        if let text, !request.isGzip, bytes.count <= CurlCommand.longestArgument {
            options.append(["--data-raw", text])
        } else {
            input = text.map { .text($0) } ?? .bytes(bytes)
            options.append(["--data-binary", "@-"])
        }
    }

    /// The text if it has no NUL and nothing that could steer a terminal.
    private static func showable(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self), ShellText.isShowable(text) else { return nil }
        return text
    }

    /// The text if it may be one argument. The shell cuts line ends off the output of printf, by which it gets other
    /// texts.
    private static func argument(_ bytes: [UInt8], mask: String) -> String? {
        guard bytes.count <= longestArgument else { return nil }
        if let text = showable(bytes) { return text }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0), bytes.last != 0x0a,
            ByteText.count(mask, in: text) == 0
        else { return nil }
        return text
    }

    private mutating func add(_ part: BodyPart, mask: String) throws(Unsayable) {
        guard !part.name.utf8.contains(UInt8(ascii: "=")) else {
            throw Unsayable(message: "curl cannot send a part whose name has an equals sign")
        }
        let filename = part.sentFilename
        var options = ""
        if let filename { options += ";filename=\(CurlCommand.quoted(filename))" }
        if let type = part.sentType {
            // The option type takes no parameters.
            options +=
                type.utf8.contains(UInt8(ascii: ";"))
                ? ";headers=\(CurlCommand.quoted("Content-Type: \(type)"))" : ";type=\(type)"
        }
        switch part.content {
        case .file(let path):
            self.options.append(["-F", "\(part.name)=@\(CurlCommand.quoted(path))\(options)"])
        case .bytes(let bytes):
            if let text = CurlCommand.argument(bytes, mask: mask) {
                self.options.append(
                    options.isEmpty
                        ? ["--form-string", "\(part.name)=\(text)"]
                        : ["-F", "\(part.name)=\(CurlCommand.quoted(text))\(options)"])
                return
            }
            guard input == nil else {
                throw Unsayable(
                    message: "curl reads only one part from standard input, and this request needs more than one")
            }
            input = CurlCommand.showable(bytes).map { .text($0) } ?? .bytes(bytes)
            self.options.append(["-F", "\(part.name)=\(filename == nil ? "<-" : "@-")\(options)"])
        }
    }

    /// A value of -F in the double quotes of curl.
    private static func quoted(_ text: String) -> String {
        "\"" + ByteText.replace("\"", with: "\\\"", in: ByteText.replace("\\", with: "\\\\", in: text)) + "\""
    }

    private mutating func addTransport(_ transport: Transport) {
        let values = [
            ("-x", transport.proxy), ("--interface", transport.interface), ("--cacert", transport.caFile),
            ("--cert", transport.certificateFile), ("--key", transport.keyFile),
            ("--pinnedpubkey", transport.pins.isEmpty ? nil : transport.pins.joined(separator: ";")),
        ]
        for case (let name, let value?) in values { options.append([name, value]) }
    }

    private func written(isGzip: Bool, mask: String) -> String {
        var texts = options.joined().map { $0 }
        if case .text(let text)? = input { texts.insert(text, at: 0) }
        var shell = ShellText(mask: mask, secrets: texts.reduce(0) { $0 + ShellText.count(mask, in: $1) })
        var command =
            switch input {
            case .text(let text): "printf %s \(shell.word(text)) | "
            case .bytes(let bytes): "printf '\(ShellText.octal(bytes))' | "
            case nil: ""
            }
        if isGzip { command += "gzip -nc | " }
        command += "curl"
        for (index, words) in options.enumerated() {
            command += (index == 0 ? " " : " \\\n  ") + words.map { shell.word($0) }.joined(separator: " ")
        }
        return command
    }
}
