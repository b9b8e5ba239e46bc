// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WorkerCLI

struct ArgumentsTests {
    private static func parse(_ words: [String], _ environment: [String: String] = [:]) throws(CommandError)
        -> Arguments
    {
        try Arguments(words, for: RunCommand.spec, environment: environment)
    }

    private static func message(_ words: [String], _ environment: [String: String] = [:]) -> String? {
        let error = #expect(throws: CommandError.self) { try parse(words, environment) }
        #expect(error?.exit == .usage)
        return error?.message
    }

    @Test func `a value follows its flag or an equals sign`() throws {
        #expect(try Self.parse(["--concurrency", "16"]).whole("concurrency", default: 8) == 16)
        #expect(try Self.parse(["--concurrency=16"]).whole("concurrency", default: 8) == 16)
        #expect(try Self.parse(["--database=host=a dbname=b"]).text("database") == "host=a dbname=b")
    }

    @Test func `without flags, run uses the default settings`() throws {
        let configuration = try RunConfiguration(Self.parse([]))
        #expect(configuration.concurrency == 8)
        #expect(configuration.queues.isEmpty)
        #expect(configuration.drain == .seconds(30))
        #expect(configuration.environment == "release")
        #expect(!configuration.allowsPrivate)
        #expect(configuration.usesPreparedStatements)
    }

    @Test func `a repeatable flag collects its values, and other flags are refused if given twice`() throws {
        #expect(try Self.parse(["--queue", "a", "--queue=b"]).texts("queue") == ["a", "b"])
        #expect(Self.message(["--drain", "1s", "--drain", "2s"]) == "--drain: given twice; give it once")
    }

    @Test func `an environment variable applies if its flag is missing`() throws {
        let environment = [
            "POSTRIDER_CONCURRENCY": "3", "POSTRIDER_QUEUE": "a,b", "POSTRIDER_ALLOW_PRIVATE": "true",
            "POSTRIDER_DRAIN": "", "POSTRIDER_ENVIRONMENT": "test",
        ]
        let arguments = try Self.parse(["--queue", "c"], environment)
        #expect(arguments.whole("concurrency", default: 8) == 3)
        #expect(arguments.texts("queue") == ["c"])
        #expect(arguments.isOn("allow-private"))
        #expect(arguments.duration("drain", default: .seconds(30)) == .seconds(30))
        #expect(try Self.parse([], environment).texts("queue") == ["a", "b"])
        #expect(try Self.parse([], ["POSTRIDER_QUEUE": " a, b c ,\t,,d"]).texts("queue") == ["a", "b c", "d"])
        #expect(try RunConfiguration(arguments).environment == "test")
    }

    @Test func `the database comes from the flag, then its variable, then DATABASE_URL`() throws {
        var environment = ["DATABASE_URL": "dbname=c"]
        #expect(try RunConfiguration(Self.parse([], environment)).database == "dbname=c")
        environment["POSTRIDER_DATABASE"] = "dbname=b"
        #expect(try RunConfiguration(Self.parse([], environment)).database == "dbname=b")
        #expect(try RunConfiguration(Self.parse(["--database", "dbname=a"], environment)).database == "dbname=a")
    }

    @Test(arguments: [
        (["--concurrency", "x"], "--concurrency: \"x\" is not a whole number; give 1 to 10000, like --concurrency 8"),
        (["--concurrency", "0"], "--concurrency: 0 is out of range; give 1 to 10000, like --concurrency 8"),
        (
            ["--concurrency", "-1"],
            "--concurrency: \"-1\" is not a whole number; give 1 to 10000, like --concurrency 8"
        ),
        (["--concurrency"], "--concurrency: its value is missing; give one, like --concurrency 8"),
        (["--queue", "--drain"], "--queue: its value is missing; give one, like --queue mail"),
        (["--queue="], "--queue: the value is empty; give one, like --queue mail"),
        (
            ["--drain", "5"],
            "--drain: \"5\" is not a duration (ms, s, m, h); give 0s to 24h, like --drain 30s"
        ),
        (["--drain", "25h"], "--drain: \"25h\" is out of range; give 0s to 24h, like --drain 30s"),
        (["--log-format", "xml"], "--log-format: \"xml\" is not known; give one of text, json, auto"),
        (["--allow-private=maybe"], "--allow-private: \"maybe\" is neither on nor off; give on or off"),
        (["--concurency", "8"], "--concurency: unknown flag of run; did you mean --concurrency?"),
        (["--serve", "x"], "--serve: unknown flag of run; see worker run --help"),
        (["-c", "8"], "-c: unknown flag of run; see worker run --help"),
        (["extra"], "run: takes no argument, 1 given; see worker run --help"),
    ])
    func `a wrong argument is named with the reason and a correct example`(words: [String], line: String) {
        #expect(Self.message(words) == line)
    }

    @Test func `a wrong environment variable is named with the reason and a correct example`() {
        #expect(
            Self.message([], ["POSTRIDER_CONCURRENCY": "x"])
                == "POSTRIDER_CONCURRENCY: \"x\" is not a whole number; give 1 to 10000, like POSTRIDER_CONCURRENCY=8")
    }

    @Test(arguments: [",", " ", " ,\t, "])
    func `a list variable with only commas or blanks is refused as empty`(text: String) throws {
        #expect(
            Self.message([], ["POSTRIDER_QUEUE": text])
                == "POSTRIDER_QUEUE: the value is empty; give one, like POSTRIDER_QUEUE=mail")
        #expect(try Self.parse([], ["POSTRIDER_QUEUE": ""]).texts("queue").isEmpty)
        #expect(try Self.parse(["--queue", "a"], ["POSTRIDER_QUEUE": text]).texts("queue") == ["a"])
    }

    @Test func `the error for an unreadable connection string does not quote the string`() throws {
        let arguments = try Self.parse(["--database", "postgresql://me:secret@[h/d"])
        let error = #expect(throws: CommandError.self) { try RunConfiguration(arguments) }
        #expect(error?.exit == .usage)
        #expect(error?.message.hasPrefix("--database: ") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func `a job's id must be a whole number above zero`() throws {
        for word in ["0", "x", "1.5", "99999999999999999999"] {
            let error = #expect(throws: CommandError.self) { try Arguments([word], for: JobCommands.cancel) }
            #expect(error?.message == "cancel ID: \"\(word)\" is not a job's id; give a whole number, like 42")
        }
        #expect(throws: CommandError(.usage, "cancel ID: is missing; give the job's id")) {
            try Arguments([], for: JobCommands.cancel)
        }
        #expect(try Arguments(["7"], for: JobCommands.cancel).operands == ["7"])
    }

    /// An operator types a command in the environment of a worker.
    @Test(arguments: [
        (
            "jobs",
            ["POSTRIDER_QUEUE": "mail", "POSTRIDER_STATE": "failed", "POSTRIDER_LIMIT": "1", "POSTRIDER_JSON": "on"]
        ),
        ("retry", ["POSTRIDER_NEW_KEY": "on"]), ("migrate", ["POSTRIDER_STATUS": "on", "POSTRIDER_NO_ROLES": "on"]),
        ("bench", ["POSTRIDER_CONCURRENCY": "3", "POSTRIDER_URL": "http://h/", "POSTRIDER_JOBS": "nonsense"]),
    ])
    func `a worker's environment variables do not change other commands`(name: String, environment: [String: String])
        throws
    {
        let command = try Program.command(named: name)
        let words = command.operands.isEmpty ? [] : ["7"]
        let arguments = try Arguments(words, for: command, environment: environment)
        for flag in command.flags where flag.name != "database" { #expect(arguments.texts(flag.name) == []) }
    }

    @Test(arguments: [
        ("job", "did you mean jobs?"), ("docter", "did you mean doctor?"), ("migrates", "did you mean migrate?"),
        ("frobnicate", "give one of run, dev, migrate"),
        ("postgresql://u:secret@h/", "the first word is not a command"),
    ])
    func `an unknown command is refused with a suggestion and without secrets`(word: String, answer: String) {
        let error = #expect(throws: CommandError.self) { try Program.command(named: word) }
        #expect(error?.message.contains(answer) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret") == false)
    }

    @Test func `two dashes end the flags, and a single dash is an operand`() throws {
        #expect(try Arguments(["-"], for: SubmitCommand.spec).operands == ["-"])
        #expect(try Arguments(["--", "--odd"], for: SubmitCommand.spec).operands == ["--odd"])
    }

    @Test(arguments: Program.commands.map(\.name))
    func `the help of a command names all its flags and variables`(name: String) throws {
        let command = try #require(Program.commands.first { $0.name == name })
        let help = HelpText.command(command)
        for flag in command.flags {
            #expect(help.contains("--\(flag.name) "))
            #expect(help.contains("[\(flag.environmentName)]") != flag.isCommandLineOnly)
        }
        #expect(HelpText.program(Program.commands).contains("  \(name)"))
    }

    @Test(arguments: [
        ("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("0s", 0), ("272h", 979_200_000),
    ])
    func `a duration is parsed and formatted to the same text`(text: String, milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
        #expect(DurationText.format(.milliseconds(milliseconds)) == text)
    }

    @Test(arguments: ["", "s", "5", "-5s", "1.5s", "5 s", "5S", "9999999999999999999h", "99999999999999999h"])
    func `parsing an invalid duration returns nil`(text: String) {
        #expect(DurationText.parse(text) == nil)
    }
}
