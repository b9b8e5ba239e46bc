// SPDX-License-Identifier: Apache-2.0

/// The completion script for bash 4 or newer.
enum BashCompletions {
    static func script(_ commands: [CommandSpec]) -> String {
        let names = commands.map(\.name).joined(separator: " ")
        return """
            # Completions of worker for bash. Written by: worker completions bash

            # Whether the flag $2 of the command $1 has no value.
            _worker_is_toggle() {
                case "$1 $2" in
                    *' --help' | *' -h' | 'run --version'\(toggles(commands))) return 0 ;;
                esac
                return 1
            }

            _worker() {
                local current=${COMP_WORDS[COMP_CWORD]} command='' flag='' operand=0 words='' kind=words word i
                COMPREPLY=()
                # bash makes three words of --flag=value.
                for ((i = 1; i < COMP_CWORD; i++)); do
                    word=${COMP_WORDS[i]}
                    if [[ $word == = ]]; then
                        flag=${COMP_WORDS[i - 1]}
                    elif [[ -n $flag ]]; then
                        flag=''
                    elif [[ $word == -* ]]; then
                        command=${command:-run}
                        if ! _worker_is_toggle "$command" "$word"; then flag=$word; fi
                    elif [[ -z $command ]]; then
                        command=$word
                    else
                        operand=$((operand + 1))
                    fi
                done
                if [[ $current == = ]]; then
                    flag=${COMP_WORDS[COMP_CWORD - 1]}
                    current=''
                fi
                if [[ -n $flag ]]; then
                    word="$command $flag"
                elif [[ $current == -* ]]; then
                    word="${command:-run} flags"
                elif [[ -z $command ]]; then
                    word=commands
                else
                    word="$command $operand"
                fi
                case $word in
                    commands | 'help 0') words='\(names)' ;;
            \(commands.map(cases).joined())    esac
                case $kind in
                    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
                    folders) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
                    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
                esac
                # A slash follows the name of a folder. compopt fails outside of a completion.
                if [[ $kind != words ]]; then compopt -o filenames 2>/dev/null; fi
            }

            complete -F _worker worker

            """
    }

    private static func toggles(_ commands: [CommandSpec]) -> String {
        commands.flatMap { command in
            command.flags.filter { !$0.takesValue }.map { " | \\\n            '\(command.name) --\($0.name)'" }
        }.joined()
    }

    /// The branches for the flags and operands of a command.
    private static func cases(_ command: CommandSpec) -> String {
        var flags = command.flags.map { "--\($0.name)" } + ["--help"]
        if command.name == "run" { flags.append("--version") }
        var text = branch("\(command.name) flags", .words(flags))
        for flag in command.flags { text += branch("\(command.name) --\(flag.name)", flag.values) }
        for (place, operand) in command.operands.enumerated() {
            text += branch("\(command.name) \(place)", operand.values)
        }
        return text
    }

    private static func branch(_ place: String, _ values: ProposedValues) -> String {
        let action =
            switch values {
            // The commands have a branch of their own.
            case .any, .commands: ""
            case .words(let words): "words='\(words.joined(separator: " "))'"
            case .files: "kind=files"
            case .folders: "kind=folders"
            }
        return action.isEmpty ? "" : "        '\(place)') \(action) ;;\n"
    }
}
