// SPDX-License-Identifier: Apache-2.0

/// The flags and operands of one command, checked against its `CommandSpec`.
struct Arguments: Sendable {
    /// Values by flag, from the command line, otherwise from the environment. A toggle has `on` or `off`.
    private var values: [String: [String]] = [:]
    /// The words that are not flags.
    private(set) var operands: [String] = []
    /// Flags whose value came from their environment variable.
    private var fromEnvironment: Set<String> = []
    /// The environment, for variables without a flag such as `DATABASE_URL`.
    let environment: [String: String]

    /// Reads the words after the command's name: `--name value`, `--name=value` and operands. `--` ends the flags.
    ///
    /// A flag on the line takes precedence over its environment variable. An empty variable counts as absent.
    ///
    /// - Throws: `usage` with one line that names the flag, the reason and a valid value.
    init(_ words: [String], for command: CommandSpec, environment: [String: String] = [:]) throws(CommandError) {
        self.environment = environment
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            if word.hasPrefix("-") && word != "-" {
                try takeFlag(word, &rest, command)
            } else {
                operands.append(word)
            }
        }
        for flag in command.flags where values[flag.name] == nil && !flag.isCommandLineOnly {
            try takeEnvironment(flag)
        }
        try checkOperands(command)
    }

    /// Takes a flag and its value, which is behind `=` or the next word.
    private mutating func takeFlag(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: CommandSpec
    ) throws(CommandError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let place = String(parts[0])
        guard place.hasPrefix("--"), let flag = command.flag(String(place.dropFirst(2))) else {
            throw Arguments.unknownFlag(place, command)
        }
        if !flag.isRepeatable && values[flag.name] != nil {
            throw .usage(place, "given twice", "give it once")
        }
        if case .toggle = flag.kind {
            let value = parts.count == 2 ? String(parts[1]) : "on"
            try flag.check(value, place: place)
            values[flag.name] = [value]
            return
        }
        let value: String
        if parts.count == 2 {
            value = String(parts[1])
        } else if let next = rest.first, !next.hasPrefix("--") {
            value = rest.removeFirst()
        } else {
            throw .usage(place, "its value is missing", "give one, like \(flag.like(place))")
        }
        try flag.check(value, place: place)
        values[flag.name, default: []].append(value)
    }

    private mutating func takeEnvironment(_ flag: Flag) throws(CommandError) {
        guard let text = environment[flag.environmentName], !text.isEmpty else { return }
        var given = flag.isRepeatable ? Arguments.parts(text) : [text]
        // A value of commas only is an empty value. Regarded as absent, it would select everything.
        if given.isEmpty { given = [""] }
        for value in given { try flag.check(value, place: flag.environmentName) }
        values[flag.name] = given
        fromEnvironment.insert(flag.name)
    }

    /// The parts between commas, without surrounding blanks. Empty parts are left out.
    private static func parts(_ text: String) -> [String] {
        text.split(separator: ",").map { part in
            let start = part.drop(while: \.isWhitespace)
            let blanks = start.reversed().prefix(while: \.isWhitespace).count
            return String(start.dropLast(blanks))
        }.filter { !$0.isEmpty }
    }

    private func checkOperands(_ command: CommandSpec) throws(CommandError) {
        if operands.count > command.operands.count {
            // The word is not quoted: it may be a connection string without its flag, or a secret.
            let count = command.operands.count
            let most = count == 0 ? "no argument" : "at most \(count) argument\(count == 1 ? "" : "s")"
            throw CommandError(
                .usage,
                "\(command.name): takes \(most), \(operands.count) given; see worker \(command.name) --help")
        }
        for (index, operand) in command.operands.enumerated() {
            guard index < operands.count else {
                if operand.isOptional { return }
                throw .usage("\(command.name) \(operand.name)", "is missing", "give \(operand.meaning)")
            }
            if operand.isID && (DurationText.wholeNumber(operands[index]) ?? 0) < 1 {
                let reason = "\(quoted(operands[index])) is not a job's id"
                throw .usage("\(command.name) \(operand.name)", reason, "give a whole number, like 42")
            }
        }
    }

    private static func unknownFlag(_ place: String, _ command: CommandSpec) -> CommandError {
        if let near = nearest(place, among: command.flags.map { "--\($0.name)" }, within: 3) {
            return .usage(place, "unknown flag of \(command.name)", "did you mean \(near)?")
        }
        return .usage(place, "unknown flag of \(command.name)", "see worker \(command.name) --help")
    }

    /// The most similar word, if at most `letters` bytes differ.
    static func nearest(_ word: String, among words: [String], within letters: Int) -> String? {
        words.map { (word: $0, distance: editDistance($0, word)) }.min { $0.distance < $1.distance }
            .flatMap { $0.distance <= letters ? $0.word : nil }
    }

    /// The edit distance (Levenshtein): how many bytes must be added, removed or changed.
    ///
    /// It compares at most 40 bytes of each word, so that a long word costs little time.
    static func editDistance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first.utf8.prefix(40)), Array(second.utf8.prefix(40)))
        var row = Array(0...b.count)
        for (i, byte) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let above = row[j + 1]
                row[j + 1] = min(above + 1, row[j] + 1, diagonal + (byte == b[j] ? 0 : 1))
                diagonal = above
            }
        }
        return row[b.count]
    }
}

extension Arguments {
    /// The source of a flag's value for error lines: `--database`, or its variable.
    func place(of flag: Flag) -> String {
        fromEnvironment.contains(flag.name) ? flag.environmentName : "--\(flag.name)"
    }

    /// The value of a flag; nil if it was not given.
    func text(_ name: String) -> String? { values[name]?.last }

    /// All values of a repeatable flag.
    func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of a flag of kind `whole`.
    func whole(_ name: String, default fallback: Int) -> Int {
        text(name).flatMap(DurationText.wholeNumber) ?? fallback
    }

    /// The value of a flag of kind `duration`.
    func duration(_ name: String, default fallback: Duration) -> Duration {
        text(name).flatMap(DurationText.parse) ?? fallback
    }

    /// The value of a flag of kind `size`, in bytes.
    func size(_ name: String, default fallback: Int) -> Int {
        text(name).flatMap(SizeText.parse) ?? fallback
    }

    /// Whether a toggle is on.
    func isOn(_ name: String) -> Bool { text(name).flatMap(Flag.toggle) ?? false }
}
