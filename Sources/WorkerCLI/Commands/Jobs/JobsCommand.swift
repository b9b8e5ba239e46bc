// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// `worker jobs`: lists jobs, newest first.
enum JobsCommand {
    static let spec = CommandSpec(
        name: "jobs", group: .jobs,
        summary: "list jobs, newest first",
        example: "jobs --state failed --service billing --since 2h",
        flags: [
            Database.flag,
            Flag(
                name: "state", kind: .choice(JobFilter.states), placeholder: "S", example: "failed",
                isCommandLineOnly: true, meaning: "only this state: \(JobFilter.states.joined(separator: ", "))"),
        ] + JobFilterFlags.all + [
            Flag(
                name: "limit", kind: .whole(1...10_000), placeholder: "N", example: "100", isCommandLineOnly: true,
                fallback: "50",
                meaning: "the most jobs"),
            Flag(
                name: "json", kind: .toggle, isCommandLineOnly: true,
                meaning: "one JSON object a line, all columns of job_status"),
        ],
        details: ["A time is by the clock of the database. A job that has not ended counts by its insertion."],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.open(arguments, readsOnly: true)
            let filter = try JobFilterFlags.filter(
                arguments, state: arguments.text("state"), limit: arguments.whole("limit", default: 50), connection)
            do throws(PGError) {
                try list(filter, arguments, connection)
                return .clean
            } catch {
                throw Database.failure(error)
            }
        })

    private static func list(
        _ given: JobFilter, _ arguments: Arguments, _ connection: borrowing PGConnection
    ) throws(PGError) {
        var parameters = PGParameters()
        var filter = given
        filter.mayFindJobs = try connection.query(
            "select has_function_privilege('postrider.newest_jobs(text, text, int)', 'execute') as value"
        ).bool(0, PGValueColumn.value)
        let source = filter.source(&parameters)
        if arguments.isOn("json") {
            let all = try JobColumns.masked(connection)
            let result = try connection.query(
                "select (select row_to_json(x)::text from (select \(all)) x) as value \(source)", &parameters)
            for row in 0..<result.rowCount { Terminal.write(result.text(row, PGValueColumn.value) + "\n") }
            return
        }
        let columns = [
            "id", "state", "queue", "priority", "attempt", "method", "url", "status_code", "error_code", "created_at",
        ]
        let list = columns.map { column in
            let shown = column == "url" ? "postrider_internal.url_with_masked_query(url, '{}')" : column
            return "coalesce(\(shown)::text, '')"
        }.joined(separator: ", ")
        let result = try connection.query("select \(list) \(source)", &parameters)
        let rows = (0..<result.rowCount).map { row in columns.indices.map { result.text(row, $0) } }
        Terminal.write(
            TextTable.format(columns.map { $0.uppercased() }, rows, palette: Palette(arguments.environment)) {
                columns[$0] == "state" ? Palette.colour(ofState: $1) : nil
            })
    }
}
