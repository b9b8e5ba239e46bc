// SPDX-License-Identifier: Apache-2.0

/// `worker completions bash|zsh|fish`: prints the script that completes command lines of this program.
enum CompletionsCommand {
    private static let shells = ["bash", "zsh", "fish"]

    static let spec = CommandSpec(
        name: "completions", group: .help,
        summary: "print the script that completes command lines in bash, zsh or fish",
        example: "completions bash > /usr/share/bash-completion/completions/worker",
        operands: [
            CommandSpec.Operand(
                name: "bash|zsh|fish", meaning: "the shell that reads the script", values: .words(shells))
        ],
        details: [
            "In bash: source <(worker completions bash). In fish: worker completions fish | source.",
            "In zsh: source <(worker completions zsh), or a file _worker in a folder of fpath.",
        ],
        run: { (arguments) throws(CommandError) in
            switch arguments.operands[0] {
            case "bash": Terminal.write(BashCompletions.script(Program.commands))
            case "zsh": Terminal.write(ZshCompletions.script(Program.commands))
            case "fish": Terminal.write(FishCompletions.script(Program.commands))
            default:
                throw .usage(
                    "completions SHELL", "\(quoted(arguments.operands[0])) is not known",
                    "give one of \(shells.joined(separator: ", "))")
            }
            return .clean
        })
}
