// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// `worker submit FILE|-`: inserts the job, batch or chain that a JSON object describes.
enum SubmitCommand {
    /// `postrider.submit` takes 1 MB; a little more is read so that the server's message is the one shown.
    private static let limit = 2 << 20

    static let spec = CommandSpec(
        name: "submit",
        summary: "insert what a JSON object describes, a job or a tree of jobs; prints its id",
        operands: [CommandSpec.Operand(name: "FILE", meaning: "a file with one JSON object, or - for standard input")],
        flags: [Database.flag],
        details: [
            "The keys are the columns of postrider.jobs, and \"chain\" and \"batch\", as in postrider.submit(jsonb).",
            "The id stands first on the line; for a batch or chain the number of its children follows.",
        ],
        run: { (arguments) throws(CommandError) in
            let path = arguments.operands[0]
            guard let bytes = try Terminal.read(path, limit: limit) else {
                throw .usage("FILE \(quoted(path))", "longer than 1 MB", "give at most 1 MB")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .usage("FILE \(quoted(path))", "not UTF-8", "give one JSON object in UTF-8")
            }
            let connection = try Database.open(arguments)
            do throws(PGError) {
                var parameters = PGParameters()
                parameters.append(text: text)
                let result = try connection.query("select postrider.submit($1::jsonb)", &parameters)
                Terminal.write(try line(result.int64(0, 0), connection) + "\n")
                return .clean
            } catch {
                throw Database.failure(error)
            }
        })

    /// The id, and of a batch or chain what it is: `12 (chain, 3 children)`.
    private static func line(_ id: Int64, _ connection: borrowing PGConnection) throws(PGError) -> String {
        var parameters = PGParameters()
        parameters.append(int64: id)
        let job = try connection.query(
            """
            select case when kind <> 'request' then kind || ', ' || children || ' ' ||
                          case when children = 1 then 'child' else 'children' end end
            from postrider.job_status where id = $1
            """, &parameters)
        guard job.rowCount > 0, let tree = job.optionalText(0, 0) else { return "\(id)" }
        return "\(id) (\(tree))"
    }
}
