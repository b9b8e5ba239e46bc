// SPDX-License-Identifier: Apache-2.0

/// One command: its flags and operands, its help and its action.
struct CommandSpec: Sendable {
    /// A word after the command, such as a job's id or a file.
    struct Operand: Sendable {
        /// Its name in help, such as `ID`.
        var name: String
        /// Its meaning in help.
        var meaning: String
        /// Whether it is a job's id, which is checked.
        var isID = false
        /// Whether it may be omitted.
        var isOptional = false
        /// The values that shells propose.
        var values = ProposedValues.any
    }

    /// The groups in the list of commands, in its order.
    enum Group: String, CaseIterable, Sendable {
        case start = "Start"
        case jobs = "Jobs"
        case overview = "Overview"
        case fleet = "Queues, lanes, operations and credentials"
        case checks = "Checks"
        case help = "Help"
    }

    /// The word after `worker`.
    var name: String
    var group: Group
    /// One line for the list of commands.
    var summary: String
    /// A command line with typical operands and flags, without `worker`.
    var example: String
    /// The operands in order. Optional ones come last.
    var operands: [Operand] = []
    /// The flags in the order of help.
    var flags: [Flag] = []
    /// Lines below the summary in the command's help.
    var details: [String] = []
    /// Runs the command.
    var run: @Sendable (Arguments) throws(CommandError) -> ExitCode

    /// The flag of this name, without dashes.
    func flag(_ name: String) -> Flag? { flags.first { $0.name == name } }
}
