// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// `worker submit FILE|-`: inserts a job, batch or chain from a JSON object.
enum SubmitCommand {
    static let spec = CommandSpec(
        name: "submit", group: .jobs,
        summary: "insert the job, batch or chain of a JSON file, and print its id",
        example: "submit chain.json",
        operands: [
            CommandSpec.Operand(
                name: "FILE", meaning: "a file with one JSON object, or - for standard input", isOptional: true,
                values: .files)
        ],
        flags: [
            Database.flag,
            Flag(
                name: "curl", kind: .text, placeholder: "COMMAND", example: CurlLine.example, isCommandLineOnly: true,
                meaning: "insert the request of a curl command instead of a file; - reads it from standard input"),
            Flag(
                name: "print", kind: .toggle, isCommandLineOnly: true,
                meaning: "with --curl: print the INSERT, and insert nothing"),
        ],
        details: [
            "The keys are the columns of postrider.jobs, and \"chain\" and \"batch\", as in postrider.submit(jsonb).",
            "On a terminal, the number of members follows the id of a batch or chain.",
            "With --curl 'curl -X POST https://api.example.com/ping' it makes a job of a curl command. It reads the options",
            "-X -H -d --json -F -u -G -b -L and more, and files behind @. No view shows the password of -u. Options without a",
            "meaning for a job are refused.",
            "If on_duplicate skip leaves the job out, no id is printed, standard error says so, and the command succeeds.",
        ],
        run: { (arguments) throws(CommandError) in
            if let command = arguments.text("curl") { return try submit(curl: command, arguments) }
            guard let path = arguments.operands.first else {
                throw .usage("submit FILE", "is missing", "give a file, - for standard input, or --curl COMMAND")
            }
            guard !arguments.isOn("print") else {
                throw .usage("--print", "is for --curl", "leave it out")
            }
            let text = try SpecFile.read(path)
            let connection = try Database.open(arguments)
            if let defect = try SpecFile.defect(text, path, connection) { throw defect }
            do throws(PGError) {
                var parameters = PGParameters()
                parameters.append(text: text)
                let result = try connection.query("select postrider.submit($1::jsonb)::text as value", &parameters)
                guard let id = result.optionalText(0, PGValueColumn.value) else {
                    Terminal.write(
                        "worker: nothing was inserted: an unfinished job has the dedupe_key, and on_duplicate is skip\n",
                        to: .error)
                    return .clean
                }
                Terminal.write(try Terminal.isTerminal(.output) ? idLine(id, connection) : "\(id)\n")
                return .clean
            } catch {
                throw Database.failure(error)
            }
        })

    /// Inserts the job of a curl command, or prints its INSERT.
    private static func submit(curl text: String, _ arguments: Arguments) throws(CommandError) -> ExitCode {
        guard arguments.operands.isEmpty else {
            throw .usage("submit FILE", "is given beside --curl", "give one of them")
        }
        var command = text
        if text == "-" {
            command = String(decoding: try readFile("-"), as: UTF8.self)
        }
        let sql = try CurlInsert.sql(CurlLine(command, read: readFile))
        if arguments.isOn("print") {
            Terminal.write(sql + ";\n")
            return .clean
        }
        let connection = try Database.open(arguments)
        do throws(PGError) {
            Terminal.write("\(try connection.query(sql).int64(0, PGValueColumn.value))\n")
            return .clean
        } catch {
            throw Database.failure(error)
        }
    }

    private static func readFile(_ path: String) throws(CommandError) -> [UInt8] {
        guard let bytes = try Terminal.read(path, limit: 64 << 20) else {
            throw .usage("FILE \(quoted(path))", "longer than 64 MiB", "give a smaller file")
        }
        return bytes
    }

    /// The id. For a batch or chain also its kind and size: `12 (chain, 3 children)`.
    private static func idLine(_ id: String, _ connection: borrowing PGConnection) throws(PGError) -> String {
        var parameters = PGParameters()
        parameters.append(int64: Int64(id))
        let job = try connection.query(
            """
            select case when kind <> 'request' then kind || ', ' || children || ' ' ||
                          case when children = 1 then 'child' else 'children' end end as value
            from postrider.job_status where id = $1
            """, &parameters)
        guard job.rowCount > 0, let tree = job.optionalText(0, PGValueColumn.value) else { return "\(id)\n" }
        return "\(id) (\(tree))\n"
    }
}
