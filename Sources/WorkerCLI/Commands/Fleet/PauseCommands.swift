// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The commands that pause and resume queues and lanes.
enum PauseCommands {
    static let queue = CommandSpec(
        name: "queue", group: .fleet,
        summary: "pause or resume a queue",
        example: "queue pause mail",
        operands: [verb, CommandSpec.Operand(name: "NAME", meaning: "the queue, as in jobs.queue")],
        flags: [Database.flag],
        details: ["While a queue is paused, none of its jobs is called. Running calls go on."],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.open(arguments)
            let isPause = try pauses(arguments)
            try warn(ifMissingFrom: "queue_status", "queue", arguments, connection)
            try call("select postrider.\(isPause ? "pause" : "resume")_queue($1)", arguments, connection)
            return try printState(
                """
                select name || case when paused then ' paused' else ' running' end as value
                from postrider.queues where name = $1
                """,
                arguments, connection)
        })

    static let lane = CommandSpec(
        name: "lane", group: .fleet,
        summary: "pause or resume a lane",
        example: "lane pause api.example.com:443 --until '2026-12-24 18:00+01'",
        operands: [
            verb, CommandSpec.Operand(name: "NAME", meaning: "jobs.lane, or the name of the service, or host:port"),
        ],
        flags: [
            Flag(
                name: "until", kind: .text, placeholder: "TIME", example: "\"2026-12-24 18:00+01\"",
                isCommandLineOnly: true, fallback: "until resumed",
                meaning: "the end of the pause, a time that PostgreSQL can read"
            ),
            Database.flag,
        ],
        details: ["While a lane is paused, none of its calls begins. Running calls go on."],
        run: { (arguments) throws(CommandError) in
            let isPause = try pauses(arguments)
            let until = arguments.text("until")
            if !isPause && until != nil { throw .usage("--until", "is only for pause", "leave it out") }
            let connection = try Database.open(arguments)
            try warn(ifMissingFrom: "lane_status", "lane", arguments, connection)
            if isPause {
                let sql = "select postrider.pause_lane($1, coalesce($2::timestamptz, 'infinity'))"
                try call(sql, arguments, connection, until: .some(until))
            } else {
                try call("select postrider.resume_lane($1)", arguments, connection)
            }
            let sql = """
                select name || case when paused_until > now() is not true then ' running'
                         when paused_until = 'infinity' then ' paused until resumed'
                         else to_char(paused_until, '" paused until "YYYY-MM-DD HH24:MI:SS TZ') end as value
                from postrider.lanes where name = $1
                """
            return try printState(sql, arguments, connection)
        })

    private static let verb = CommandSpec.Operand(
        name: "pause|resume", meaning: "the action", values: .words(["pause", "resume"]))

    /// Whether the first operand is `pause`.
    ///
    /// - Throws: `usage` unless it is `pause` or `resume`.
    private static func pauses(_ arguments: Arguments) throws(CommandError) -> Bool {
        switch arguments.operands[0] {
        case "pause": return true
        case "resume": return false
        default:
            throw .usage(
                quoted(arguments.operands[0]), "is neither pause nor resume", "give one of them, then the name")
        }
    }

    /// Warns about an unknown name. It may be intended before the first job, or be misspelled.
    private static func warn(
        ifMissingFrom view: String, _ kind: String, _ arguments: Arguments, _ connection: borrowing PGConnection
    ) throws(CommandError) {
        let known = try call("select from postrider.\(view) where \(kind) = $1", arguments, connection)
        guard known.rowCount == 0 else { return }
        let name = SanitizedText.escape(quoted(arguments.operands[1]))
        Terminal.write(
            "worker: no \(kind) \(name) is known yet; check the spelling with: select \(kind) from postrider.\(view)\n",
            to: .error)
    }

    /// Prints the state that the query returns as `value`, such as `mail paused`. An unknown queue or lane is not
    /// paused.
    private static func printState(
        _ sql: String, _ arguments: Arguments, _ connection: borrowing PGConnection
    ) throws(CommandError) -> ExitCode {
        let state = try call(sql, arguments, connection)
        let line = state.rowCount > 0 ? state.text(0, PGValueColumn.value) : arguments.operands[1] + " running"
        Terminal.write(SanitizedText.escape(line) + "\n")
        return .clean
    }

    /// Runs a statement whose first parameter is the name.
    ///
    /// - Parameter until: the second parameter, which may be null; nil: the statement has no second parameter.
    @discardableResult
    private static func call(
        _ sql: String, _ arguments: Arguments, _ connection: borrowing PGConnection, until: String?? = nil
    ) throws(CommandError) -> PGResult {
        var parameters = PGParameters()
        parameters.append(text: arguments.operands[1])
        if case .some(let until) = until { parameters.append(text: until) }
        do throws(PGError) {
            return try connection.query(sql, &parameters)
        } catch {
            if case .some(.some) = until, error.sqlState?.category == "22" {
                throw .usage("--until", "is not a time", "give one like \"2026-12-24 18:00+01\"")
            }
            throw Database.failure(error)
        }
    }
}
