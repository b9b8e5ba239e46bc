// SPDX-License-Identifier: Apache-2.0

/// One command: what stands on its line, what help says, and what it does.
struct CommandSpec: Sendable {
    /// A word that follows the command: a job's id, a file.
    struct Operand: Sendable {
        /// Stands for it in help: `ID`.
        var name: String
        /// What it is, for help.
        var meaning: String
        /// Whether it is a job's id and checked as such.
        var isID = false
        /// Whether the command does something useful without it.
        var isOptional = false
    }

    /// The word after `worker`.
    var name: String
    /// One line for the list of commands.
    var summary: String
    /// In their order; optional ones come last.
    var operands: [Operand] = []
    /// In the order of help.
    var flags: [Flag] = []
    /// A few lines below the summary in the command's own help.
    var details: [String] = []
    /// Does it.
    var run: @Sendable (Arguments) throws(CommandError) -> ExitCode

    /// The flag of this name.
    func flag(_ name: String) -> Flag? { flags.first { $0.name == name } }
}
