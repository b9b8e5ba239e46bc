// SPDX-License-Identifier: Apache-2.0

/// The values of a flag or an operand that a shell proposes when a user completes a command line.
enum ProposedValues: Sendable, Equatable {
    /// None: any text may follow.
    case any
    /// These words.
    case words([String])
    /// The names of files.
    case files
    /// The names of folders.
    case folders
    /// The names of this program's commands.
    case commands
}

extension Flag {
    /// Whether the next word is its value.
    var takesValue: Bool {
        if case .toggle = kind { return false }
        return true
    }

    /// The values that a shell proposes.
    var values: ProposedValues {
        switch (kind, placeholder) {
        case (.toggle, _): .words(["on", "off"])
        case (.choice(let words), _): .words(words)
        case (_, "FILE"): .files
        case (_, "DIR"): .folders
        default: proposals.isEmpty ? .any : .words(proposals)
        }
    }
}
