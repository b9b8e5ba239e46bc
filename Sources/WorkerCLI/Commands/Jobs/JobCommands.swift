// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The commands that call one SQL function on one job.
enum JobCommands {
    /// The operand of all these commands.
    static let id = CommandSpec.Operand(name: "ID", meaning: "the job's id", isID: true)

    private enum ExplainColumn: Int, PGColumn {
        case sentence, isKnown

        var sql: StaticString {
            switch self {
            case .sentence: "postrider.explain($1) as sentence"
            case .isKnown: "exists (select from postrider.job_status where id = $1) as is_known"
            }
        }
    }

    static let explain = CommandSpec(
        name: "explain", group: .jobs,
        summary: "say why a job waits, and when it will run",
        example: "explain 42",
        operands: [id], flags: [Database.flag],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.open(arguments, readsOnly: true)
            let answer = try call("select \(ExplainColumn.selectList)", arguments, connection)
            let sentence = SanitizedText.escape(answer.text(0, ExplainColumn.sentence)) + "\n"
            guard answer.bool(0, ExplainColumn.isKnown) else {
                Terminal.write("worker: ID: \(sentence)", to: .error)
                return .usage
            }
            Terminal.write(sentence)
            return .clean
        })

    static let cancel = CommandSpec(
        name: "cancel", group: .jobs,
        summary: "cancel a job that waits or runs",
        example: "cancel 42",
        operands: [id], flags: [Database.flag],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.open(arguments)
            let isCancelled = try call("select postrider.cancel($1) as value", arguments, connection)
                .bool(0, PGValueColumn.value)
            return try printState(
                arguments, connection, suffix: isCancelled ? "" : "; it had finished already, nothing was cancelled")
        })

    /// Prints the state of the job and the suffix, such as `42 cancelled`.
    static func printState(
        _ arguments: Arguments, _ connection: borrowing PGConnection, suffix: String = ""
    ) throws(CommandError) -> ExitCode {
        let sql = "select id || ' ' || state as value from postrider.job_status where id = $1"
        let job = try call(sql, arguments, connection)
        guard job.rowCount > 0 else { return missing(arguments.operands[0]) }
        Terminal.write(job.text(0, PGValueColumn.value) + suffix + "\n")
        return .clean
    }

    /// Runs a statement whose only parameter is the job's id.
    static func call(
        _ sql: String, _ arguments: Arguments, _ connection: borrowing PGConnection
    ) throws(CommandError) -> PGResult {
        var parameters = PGParameters()
        parameters.append(int64: Int64(arguments.operands[0]))
        return try Database.query(sql, &parameters, connection)
    }

    /// Reports that the job does not exist.
    static func missing(_ id: String) -> ExitCode {
        Terminal.write("worker: ID: there is no job \(id); see worker jobs\n", to: .error)
        return .usage
    }
}
