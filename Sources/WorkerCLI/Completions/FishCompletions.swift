// SPDX-License-Identifier: Apache-2.0

/// The completion script for fish 3 or newer.
enum FishCompletions {
    static func script(_ commands: [CommandSpec]) -> String {
        var lines: [String] = []
        for command in commands {
            lines.append(
                line("test (__worker_command) = none", "-a \(command.name) -d \(quoted(command.summary))"))
        }
        for command in commands { lines += self.lines(command, commands) }
        return """
            # Completions of worker for fish. Written by: worker completions fish

            # Prints the command of the line: none before the first word, and run without a command.
            function __worker_command
                set -l words (commandline -opc)
                switch "$words[2]"
                    case ''
                        echo none
                    case '-*'
                        echo run
                    case '*'
                        echo $words[2]
                end
            end

            # Whether the flags of the command apply.
            function __worker_is
                set -l command (__worker_command)
                test $command = $argv[1]; or test $command = none -a $argv[1] = run
            end

            complete -c worker -f
            \(lines.joined())
            """
    }

    private static func lines(_ command: CommandSpec, _ commands: [CommandSpec]) -> [String] {
        let condition = "__worker_is \(command.name)"
        var lines = command.flags.map { flag in
            let value = flag.takesValue ? value(flag.values, commands) + " " : ""
            return line(condition, "-l \(flag.name) \(value)-d \(quoted(flag.meaning))")
        }
        lines.append(line(condition, "-s h -l help -d 'show the help of this command'"))
        if command.name == "run" { lines.append(line(condition, "-l version -d 'show the version of this program'")) }
        for operand in command.operands {
            switch operand.values {
            case .any: break
            case .words, .commands:
                let words = words(operand.values, commands)
                lines.append(line("\(condition); and not __fish_seen_subcommand_from \(words)", "-a \(quoted(words))"))
            case .files: lines.append(line(condition, "-F"))
            case .folders: lines.append(line(condition, "-a '(__fish_complete_directories)'"))
            }
        }
        return lines
    }

    private static func line(_ condition: String, _ rest: String) -> String {
        "complete -c worker -n \(quoted(condition)) \(rest)\n"
    }

    /// The words of `complete` for the value of a flag: `-x` for a value that is no file, `-r -F` for a file.
    private static func value(_ values: ProposedValues, _ commands: [CommandSpec]) -> String {
        switch values {
        case .any: "-x"
        case .words, .commands: "-x -a \(quoted(words(values, commands)))"
        case .files: "-r -F"
        case .folders: "-x -a '(__fish_complete_directories)'"
        }
    }

    private static func words(_ values: ProposedValues, _ commands: [CommandSpec]) -> String {
        switch values {
        case .words(let words): words.joined(separator: " ")
        // The word `help` is the command itself, so a further one is not seen as its operand.
        case .commands: commands.map(\.name).filter { $0 != "help" }.joined(separator: " ")
        case .any, .files, .folders: ""
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "'"
    }
}
