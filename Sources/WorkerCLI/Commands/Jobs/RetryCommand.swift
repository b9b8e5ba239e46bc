// SPDX-License-Identifier: Apache-2.0

/// `worker retry ID` runs one ended job again, and `worker retry --failed` all failed jobs of a filter.
enum RetryCommand {
    static let spec = CommandSpec(
        name: "retry", group: .jobs,
        summary: "run an ended job again, or all failed jobs of a filter",
        example: "retry --failed --service billing --error connect --since 2h",
        operands: [
            CommandSpec.Operand(
                name: "ID", meaning: "the job's id; not with --failed", isID: true, isOptional: true)
        ],
        flags: [
            Database.flag,
            Flag(
                name: "new-key", kind: .toggle, isCommandLineOnly: true,
                meaning: "with ID: send a new Idempotency-Key, so that the API acts again"),
            Flag(
                name: "from-start", kind: .toggle, isCommandLineOnly: true,
                meaning: "with ID: if the job has paginate, remove its pages and fetch the list again"),
            Flag(
                name: "failed", kind: .toggle, isCommandLineOnly: true,
                meaning: "run all failed jobs again that match the flags below; it shows their number and asks first"),
        ] + JobFilterFlags.all + [
            Flag(
                name: "yes", kind: .toggle, isCommandLineOnly: true,
                meaning: "with --failed: do not ask; needed without a terminal")
        ],
        details: [
            "A failed member of a batch or chain runs again with its whole tree, which counts as one job.",
            "Left out are jobs past their expires_at, and at_most_once jobs on which the server may have acted.",
            "Many jobs run again in steps. Ctrl-C stops between two steps.",
        ],
        run: { (arguments) throws(CommandError) in
            try check(arguments)
            if arguments.isOn("failed") { return try FailedRetry.run(arguments) }
            let connection = try Database.open(arguments)
            let options = "new_key => \(arguments.isOn("new-key")), from_start => \(arguments.isOn("from-start"))"
            _ = try JobCommands.call("select postrider.retry($1, \(options))", arguments, connection)
            return try JobCommands.printState(arguments, connection)
        })

    /// Checks that the flags belong to the form that was given, with an id or with `--failed`.
    ///
    /// - Throws: `usage`.
    private static func check(_ arguments: Arguments) throws(CommandError) {
        if arguments.isOn("failed") {
            guard arguments.operands.isEmpty else {
                throw .usage("--failed", "cannot be combined with an id", "give one of them")
            }
            for name in ["new-key", "from-start"] where arguments.isOn(name) {
                throw .usage("--\(name)", "is only for one job", "leave it out, or give an id")
            }
            return
        }
        for name in JobFilterFlags.all.map(\.name) + ["yes"] where arguments.text(name) != nil {
            throw .usage("--\(name)", "is only for --failed", "give --failed too, or leave it out")
        }
        if arguments.operands.isEmpty {
            throw .usage("retry ID", "is missing", "give the job's id, or --failed")
        }
    }
}
