// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// `worker help` and `worker version`, in addition to `--help` and `--version`.
enum HelpCommands {
    static let help = CommandSpec(
        name: "help",
        summary: "print the list of commands, or what one of them takes",
        operands: [CommandSpec.Operand(name: "COMMAND", meaning: "the command to tell of", isOptional: true)],
        run: { (arguments) throws(CommandError) in
            if let name = arguments.operands.first {
                Terminal.write(HelpText.command(try Program.command(named: name)))
            } else {
                Terminal.write(HelpText.program(Program.commands))
            }
            return .clean
        })

    static let version = CommandSpec(
        name: "version",
        summary: "print the version of this program",
        run: { (_) throws(CommandError) in
            tellVersion()
            return .clean
        })

    static func tellVersion() { Terminal.write("worker \(ProductVersion.current)\n") }
}
