// SPDX-License-Identifier: Apache-2.0

/// The completion script for zsh, as a file `_worker` in `fpath`, or for `source`.
enum ZshCompletions {
    static func script(_ commands: [CommandSpec]) -> String {
        let list = commands.map { "        " + quoted("\($0.name):\($0.summary)") + "\n" }.joined()
        return """
            #compdef worker
            # Completions of worker for zsh. Written by: worker completions zsh

            _worker() {
                local command=run
                local -a commands
                commands=(
            \(list)    )
                if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
                    _describe -t commands 'command of worker' commands
                    return
                fi
                # Without a command, worker runs. Otherwise the command takes the place of the program's name.
                if [[ $words[2] != -* ]]; then
                    command=$words[2]
                    shift words
                    (( CURRENT-- ))
                fi
                case $command in
            \(commands.map { branch($0, commands) }.joined())    esac
            }

            # A file in fpath is run as the function itself, after source it is registered.
            if [[ $funcstack[1] == _worker ]]; then
                _worker "$@"
            else
                compdef _worker worker
            fi

            """
    }

    /// The call of `_arguments` for a command.
    private static func branch(_ command: CommandSpec, _ commands: [CommandSpec]) -> String {
        var parts = command.flags.map { flag in
            let star = flag.isRepeatable ? "*" : ""
            let meaning = "[" + escaped(flag.meaning, "[]\\") + "]"
            guard flag.takesValue else { return "\(star)--\(flag.name)\(meaning)" }
            return "\(star)--\(flag.name)=\(meaning):\(message(flag.placeholder)):\(action(flag.values, commands))"
        }
        parts.append("(- *)--help[show the help of this command]")
        if command.name == "run" { parts.append("(- *)--version[show the version of this program]") }
        for (place, operand) in command.operands.enumerated() {
            let colon = operand.isOptional ? "::" : ":"
            parts.append("\(place + 1)\(colon)\(message(operand.name)):\(action(operand.values, commands))")
        }
        return "        (\(command.name))\n            _arguments -S"
            + parts.map { " \\\n                " + quoted($0) }.joined() + " ;;\n"
    }

    private static func action(_ values: ProposedValues, _ commands: [CommandSpec]) -> String {
        switch values {
        // A blank: there is nothing to propose, only the message is shown.
        case .any: " "
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .files: "_files"
        case .folders: "_files -/"
        case .commands: "(\(commands.map(\.name).joined(separator: " ")))"
        }
    }

    private static func message(_ text: String) -> String { escaped(text, ":\\") }

    /// The text with a backslash before each of the characters.
    private static func escaped(_ text: String, _ characters: String) -> String {
        text.map { characters.contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "'\\''" : "\($0)" }.joined() + "'"
    }
}
