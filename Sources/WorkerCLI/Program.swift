// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import JobModel

/// The commands, and the choice of one by the words of the command line.
public enum Program {
    /// The commands in the order of help.
    static let commands: [CommandSpec] = [
        RunCommand.spec, DevCommand.spec, MigrateCommand.spec, SubmitCommand.spec, PreviewCommand.spec,
        WatchCommand.spec, JobsCommand.spec, ShowCommand.spec, JobCommands.explain, JobCommands.cancel,
        RetryCommand.spec, TopCommand.spec, StatusCommands.queues, StatusCommands.lanes, StatusCommands.schedules,
        StatusCommands.services, StatusCommands.workers, PauseCommands.queue, PauseCommands.lane,
        OperationsCommand.spec, CredentialCommand.spec, DoctorCommand.spec, AuditCommand.spec, BenchCommand.spec,
        HelpCommands.help, CompletionsCommand.spec, ManCommand.spec, HelpCommands.version,
    ]

    /// Runs the command that the first word names. Without words, or if the first one is a flag, it runs `run`.
    ///
    /// An error becomes one line on stderr, `worker: …`.
    public static func run(_ words: [String]) -> ExitCode {
        Terminal.occupyClosed()
        do throws(CommandError) {
            let exit = try dispatch(words, environment: environmentVariables())
            guard Terminal.outputError == 0 else { throw unwritten(Terminal.outputError) }
            return exit
        } catch {
            Terminal.write("worker: \(error.message)\n", to: .error)
            return error.exit
        }
    }

    private static func dispatch(_ words: [String], environment: [String: String]) throws(CommandError) -> ExitCode {
        var rest = words
        var command = RunCommand.spec
        if let first = words.first, !first.hasPrefix("-") {
            command = try self.command(named: first)
            rest.removeFirst()
        }
        let flags = rest.prefix { $0 != "--" }
        if flags.contains("--help") || flags.contains("-h") {
            // If no word was removed, no command was named.
            Terminal.write(rest.count == words.count ? HelpText.program(commands) : HelpText.command(command))
            return .clean
        }
        if words == ["--version"] {
            HelpCommands.tellVersion()
            return .clean
        }
        return try command.run(Arguments(rest, for: command, environment: environment))
    }

    /// The command of this name.
    ///
    /// - Throws: `usage` with the nearest name, or with all names.
    static func command(named name: String) throws(CommandError) -> CommandSpec {
        if let command = commands.first(where: { $0.name == name }) { return command }
        // The word is quoted only if it is a typing error. Otherwise it may be a connection string without its flag.
        let isWord = name.count <= 20 && name.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") }
        let what = isWord ? quoted(name) : "the first word"
        let names = commands.map(\.name)
        let near = isWord ? Arguments.nearest(name, among: names, within: 2) : nil
        throw CommandError(
            .usage,
            "\(what) is not a command; "
                + (near.map { "did you mean \($0)? See worker help" } ?? "give one of \(names.joined(separator: ", "))")
        )
    }

    /// The error of a command whose output could not be written completely. The number is an `errno`.
    private static func unwritten(_ number: Int32) -> CommandError {
        CommandError(
            .internalError,
            "standard output: \(Terminal.reason(number)); the command is done, but its output is incomplete")
    }

    /// The words of the command line behind the program's name. C: the arguments of `main`.
    public static func arguments() -> [String] {
        var words: [String] = []
        var next = unsafe clinux_arguments()
        while let word = unsafe next.pointee {
            words.append(unsafe String(cString: word))
            unsafe next += 1
        }
        return Array(words.dropFirst())
    }

    private static func environmentVariables() -> [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let text = unsafe String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            unsafe next += 1
        }
        return variables
    }
}
