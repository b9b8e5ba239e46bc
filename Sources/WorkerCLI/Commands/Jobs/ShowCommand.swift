// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import JobModel
internal import PGClient

/// `worker show ID`: all facts about one job, and its attempts.
enum ShowCommand {
    static let spec = CommandSpec(
        name: "show", group: .jobs,
        summary: "show a job, its answer and its attempts",
        example: "show 42 --curl",
        operands: [JobCommands.id],
        flags: [
            Database.flag,
            Flag(
                name: "curl", kind: .toggle, isCommandLineOnly: true,
                meaning: "print only the request, as a curl command that sends the same bytes"),
            Flag(
                name: "json", kind: .toggle, isCommandLineOnly: true,
                meaning: "one JSON object: all columns of job_status, and attempts, an array of rows of that view"),
        ],
        details: [
            "In the curl command, secrets are $POSTRIDER_SECRET, or $POSTRIDER_SECRET_1, _2 and so on. Set them as they",
            "are sent: percent-encoded in a URL or form, escaped in a JSON text. Paths of files are below --files.",
        ],
        run: { (arguments) throws(CommandError) in
            if arguments.isOn("curl") && arguments.isOn("json") {
                throw .usage("--json", "cannot be combined with --curl", "give one of them")
            }
            let connection = try Database.open(arguments, readsOnly: true)
            let id = arguments.operands[0]
            if arguments.isOn("curl") { return try printCurl(id, connection) }
            do throws(PGError) {
                let isFound =
                    arguments.isOn("json")
                    ? try printJSON(id, connection) : try show(id, connection, Palette(arguments.environment))
                return isFound ? .clean : JobCommands.missing(id)
            } catch {
                throw Database.failure(error)
            }
        })

    /// The column in which values begin.
    private static let width = 18

    private enum BodyColumn: Int, PGColumn {
        case body, size

        var sql: StaticString {
            switch self {
            case .body: "substr(s.body, 1, 16384) as body"
            case .size: "octet_length(s.body) as size"
            }
        }
    }

    /// Prints the request as a curl command.
    private static func printCurl(
        _ id: String, _ connection: borrowing PGConnection
    ) throws(CommandError) -> ExitCode {
        do throws(PGError) {
            switch try MaskedJobRequest.read(Int64(id) ?? 0, connection, showsServices: true).flatMap(\.curl) {
            case .success(let command): Terminal.write(command + "\n")
            case .failure(let reason):
                Terminal.write("worker: ID: job \(id) has no curl command: \(reason.message)\n", to: .error)
                return .usage
            }
            return .clean
        } catch {
            throw Database.failure(error)
        }
    }

    /// Prints the job with its attempts as one JSON object. False if it does not exist.
    private static func printJSON(_ id: String, _ connection: borrowing PGConnection) throws(PGError) -> Bool {
        var parameters = PGParameters()
        parameters.append(int64: Int64(id))
        let columns = try JobColumns.masked(connection)
        let job = try connection.query(
            """
            select (select row_to_json(x)::text
                      from (select \(columns), (
                              select coalesce(json_agg(row_to_json(a) order by a.fence), '[]')
                                from postrider.attempts a where a.job_id = s.id) as attempts) x) as value
            from postrider.job_status s where s.id = $1
            """, &parameters)
        guard job.rowCount > 0 else { return false }
        Terminal.write(job.text(0, PGValueColumn.value) + "\n")
        return true
    }

    /// Prints the job. False if it does not exist.
    private static func show(
        _ id: String, _ connection: borrowing PGConnection, _ palette: Palette
    ) throws(PGError) -> Bool {
        var parameters = PGParameters()
        parameters.append(int64: Int64(id))
        let columns = try JobColumns.masked(connection, without: "body")
        // json keeps the order of columns, which jsonb does not. The body is read separately and only as far as it is
        // shown, because it may have 64 MiB.
        let job = try connection.query(
            """
            select \(FactList.Column.selectList) from (select \(columns) from postrider.job_status s where s.id = $1) s
            cross join json_each_text(row_to_json(s)) f
            where f.value is not null
            """, &parameters)
        guard job.rowCount > 0 else { return false }
        var text = ""
        for row in 0..<job.rowCount {
            let value = SanitizedText.escape(job.text(row, FactList.Column.value))
            let key = job.text(row, FactList.Column.key)
            text += FactList.text(
                key, key == "state" ? palette.paint(value, Palette.colour(ofState: value)) : value, width: width)
        }
        let answer = try connection.query(
            "select \(BodyColumn.selectList) from postrider.job_status s where s.id = $1", &parameters)
        if answer.rowCount > 0 && !answer.isNull(0, BodyColumn.body) {
            let body = SanitizedText.body(
                answer.bytes(0, BodyColumn.body), size: Int(answer.int32(0, BodyColumn.size)))
            let shown = SanitizedText.escape(body, keepsLines: true)
            text += FactList.text("body", shown, width: width)
        }
        Terminal.write(text)
        let attemptColumns = [
            "attempt", "worker", "started_at", "phase", "total_ms", "remote_ip", "status_code", "error_code", "rule",
            "error",
        ]
        let list = attemptColumns.map { "coalesce(\($0)::text, '')" }.joined(separator: ", ")
        let attempts = try connection.query(
            "select \(list) from postrider.attempts where job_id = $1 order by attempt", &parameters)
        if attempts.rowCount > 0 {
            let rows = (0..<attempts.rowCount).map { row in attemptColumns.indices.map { attempts.text(row, $0) } }
            Terminal.write("\n" + TextTable.format(attemptColumns.map { $0.uppercased() }, rows))
        }
        return true
    }
}
