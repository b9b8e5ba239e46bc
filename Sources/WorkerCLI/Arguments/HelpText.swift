// SPDX-License-Identifier: Apache-2.0

/// The output of `--help`, built from the `CommandSpec` of each command.
enum HelpText {
    /// The list of commands.
    static func program(_ commands: [CommandSpec]) -> String {
        var lines = ["usage: worker [run] [flags]", "       worker COMMAND [flags]   worker COMMAND --help", ""]
        let width = commands.map { line($0).count }.max() ?? 0
        for group in CommandSpec.Group.allCases {
            lines.append("\(group.rawValue):")
            lines += columns(commands.filter { $0.group == group }.map { (line($0), $0.summary) }, width: width)
            lines.append("")
        }
        lines += [
            "The database is the one of --database, POSTRIDER_DATABASE, DATABASE_URL or libpq's variables (PGHOST, …).",
            "Exit codes: 0 success, 1 the job failed or a check found a fault, 64 wrong usage, 69 no database,",
            "70 internal error, 78 the schema needs worker migrate.",
            "Terminals show colours unless NO_COLOR is set. Completions for shells: worker completions bash|zsh|fish.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// One command: its flags with their environment variables and defaults.
    static func command(_ command: CommandSpec) -> String {
        var lines = ["usage: worker \(line(command)) [flags]", "", command.summary]
        lines += command.details
        if !command.operands.isEmpty {
            lines += [""] + columns(command.operands.map { ($0.name, $0.meaning) })
        }
        if !command.flags.isEmpty {
            lines.append("")
            lines += columns(
                command.flags.map { flag in
                    var meaning = flag.meaning
                    if let fallback = flag.fallback { meaning += " (default \(fallback))" }
                    if flag.isRepeatable { meaning += "; repeatable" }
                    if !flag.isCommandLineOnly { meaning += "  [\(flag.environmentName)]" }
                    return ("--\(flag.name) \(flag.placeholder)", meaning)
                })
        }
        lines += ["", "Example: worker \(command.example)"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The command and its operands, such as `watch [ID]`.
    private static func line(_ command: CommandSpec) -> String {
        ([command.name] + command.operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }).joined(separator: " ")
    }

    private static func columns(_ rows: [(String, String)], width: Int? = nil) -> [String] {
        let width = width ?? rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count + 3) + right
        }
    }
}
