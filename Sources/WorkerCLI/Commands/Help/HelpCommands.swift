// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// `worker help` and `worker version`, in addition to `--help` and `--version`.
enum HelpCommands {
    static let help = CommandSpec(
        name: "help", group: .help,
        summary: "show the commands, or the flags of one command",
        example: "help retry",
        operands: [
            CommandSpec.Operand(
                name: "COMMAND", meaning: "the command to describe", isOptional: true, values: .commands)
        ],
        run: { (arguments) throws(CommandError) in
            if let name = arguments.operands.first {
                Terminal.write(HelpText.command(try Program.command(named: name)))
            } else {
                Terminal.write(HelpText.program(Program.commands))
            }
            return .clean
        })

    static let version = CommandSpec(
        name: "version", group: .help,
        summary: "show the version of this program",
        example: "version",
        run: { (_) throws(CommandError) in
            tellVersion()
            return .clean
        })

    static func tellVersion() { Terminal.write("worker \(ProductVersion.current)\n") }
}
