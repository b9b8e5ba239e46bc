// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The manual page worker(1), built from the `CommandSpec` of each command.
enum ManPage {
    static func text(_ commands: [CommandSpec]) -> String {
        var lines = [
            ".\\\" Written by: worker man",
            Roff.request("TH", "WORKER", "1", "", "Postrider \(ProductVersion.current)", "Postrider"),
            // No hyphen within the name of a variable, no blanks to fill a line.
            ".nh", ".ad l",
            ".SH NAME", "worker \\- make reliable, scheduled API calls from PostgreSQL",
            ".SH SYNOPSIS",
        ]
        lines += synopsis("[\\fBrun\\fR] [\\fIflags\\fR]")
        lines += synopsis("\\fIcommand\\fR [\\fIflags\\fR] [\\fIoperands\\fR]")
        lines += [
            ".SH DESCRIPTION",
            Roff.text(
                "Postrider keeps HTTP calls as rows of the table postrider.jobs. A worker claims them, makes the calls and"
                    + " stores the answers. Without a command, worker does the same as worker run."),
            ".P",
            Roff.text(
                "A flag is written as --name value or --name=value. Most flags of run can be set by a variable of the"
                    + " environment, which is shown with the flag. A flag takes precedence over its variable."),
            ".SH COMMANDS",
        ]
        for group in CommandSpec.Group.allCases {
            for command in commands where command.group == group { lines += section(command) }
        }
        lines += [".SH ENVIRONMENT"]
        lines += Roff.item("DATABASE_URL", "", "The database, if neither --database nor POSTRIDER_DATABASE is given.")
        lines += Roff.item(
            "PGHOST, PGUSER, PGPASSWORD, …", "", "The variables of libpq, for what the others leave open.")
        lines += Roff.item("NO_COLOR", "", "If it is set and not empty, commands write no colours to a terminal.")
        lines += [".SH EXIT STATUS"]
        for (code, meaning) in exitCodes { lines += Roff.item(code, "", meaning) }
        lines += [
            ".SH SEE ALSO",
            "\\fBpsql\\fR(1),",
            Roff.text(
                "the documentation in the folder docs of the sources, and the comments of the schema postrider in psql."
            ),
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static let exitCodes = [
        ("0", "Success, or a stop after a signal in which all calls ended or were handed back."),
        ("1", "The job did not succeed, a check found a fault, or the command was stopped before its end."),
        ("64", "The command line, a setting or the input is invalid."),
        ("69", "The database cannot be reached."),
        ("70", "An internal error."),
        ("78", "The schema is missing, or older or newer than this program supports. Run worker migrate."),
    ]

    private static func synopsis(_ rest: String) -> [String] { ["\\fBworker\\fR \(rest)", ".br"] }

    /// The subsection of one command.
    private static func section(_ command: CommandSpec) -> [String] {
        let operands = command.operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        var lines = [
            Roff.request("SS", Roff.text((["worker", command.name] + operands).joined(separator: " "))),
            Roff.text(sentence(command.summary)),
        ]
        if !command.details.isEmpty { lines += [".P"] + command.details.map(Roff.text) }
        for operand in command.operands { lines += Roff.item(operand.name, "", sentence(operand.meaning)) }
        for flag in command.flags { lines += Roff.item("--\(flag.name)", flag.placeholder, meaning(flag)) }
        lines += [
            ".P", "Example:", ".P", ".RS 4", ".nf", Roff.text("worker \(command.example)"), ".fi", ".RE",
        ]
        return lines
    }

    private static func meaning(_ flag: Flag) -> String {
        var text = flag.meaning
        if let fallback = flag.fallback { text += " (default \(fallback))" }
        if flag.isRepeatable { text += "; repeatable" }
        return sentence(text) + (flag.isCommandLineOnly ? "" : " Variable: \(flag.environmentName).")
    }

    /// The text with a capital letter and a full stop.
    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}
