// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// `worker operations list`, `show NAME` and `import FILE --service NAME`.
enum OperationsCommand {
    static let spec = CommandSpec(
        name: "operations", group: .fleet,
        summary: "list or show operations, or import them from an OpenAPI file",
        example: "operations import openapi.yaml --service accounts --dry-run",
        operands: [
            CommandSpec.Operand(
                name: "ACTION", meaning: "list, show or import", values: .words(["list", "show", "import"])),
            CommandSpec.Operand(
                name: "NAME|FILE",
                meaning: "show: an operation's name; import: OpenAPI 3.0 or 3.1, JSON or YAML, or - for standard input",
                isOptional: true, values: .files),
        ],
        flags: [
            Database.flag,
            Flag(
                name: "service", kind: .text, placeholder: "NAME", example: "accounts", isCommandLineOnly: true,
                meaning: "list: only its operations; import: the service of the operations"),
            Flag(
                name: "dry-run", kind: .toggle, isCommandLineOnly: true,
                meaning: "import: show the result and change nothing; the service need not exist"),
            Flag(
                name: "force", kind: .toggle, isCommandLineOnly: true,
                meaning: "import: overwrite operations that were edited since their import"),
        ],
        details: [
            "An import makes one operation for each operationId, called <service>.<operationId>. It prints what it left",
            "out and why, and a service and credential to insert. A further import changes what differs. It keeps edited",
            "operations, and it deletes none.",
            "Other examples: worker operations list --service accounts, worker operations show accounts.get_user",
        ],
        run: { (arguments) throws(CommandError) in
            let action = arguments.operands[0]
            guard ["list", "show", "import"].contains(action) else {
                throw .usage("operations ACTION", "\(quoted(action)) is not known", "give list, show or import")
            }
            for name in ["dry-run", "force"] where action != "import" && arguments.text(name) != nil {
                throw .usage("--\(name)", "is only for import", "leave it out")
            }
            let operand = arguments.operands.count > 1 ? arguments.operands[1] : nil
            switch (action, operand) {
            case ("list", nil): return try list(arguments)
            case ("list", _): throw .usage("operations list", "takes no name", "did you mean show, or --service?")
            case ("show", let name?): return try show(name, arguments)
            case ("import", let path?): return try OperationsImport.run(path, arguments)
            default:
                let what = action == "show" ? "NAME" : "FILE"
                let example = action == "show" ? "accounts.get_user" : "openapi.yaml"
                throw .usage("operations \(action) \(what)", "is missing", "give one, like \(example)")
            }
        })

    private static func list(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        let connection = try Database.open(arguments, readsOnly: true)
        var parameters = PGParameters()
        parameters.append(text: arguments.text("service"))
        let columns = [
            "name", "arguments", "revision", "description",
        ]
        do throws(PGError) {
            let result = try connection.query(
                """
                select o.name, coalesce(nullif((
                         select string_agg(k, ', ' order by k like '%?', k) from jsonb_object_keys(o.arguments) k), ''), '-'),
                       o.revision::text, coalesce(o.description, '')
                from postrider.operations o where $1 is null or o.service = $1 order by o.name
                """, &parameters)
            let rows = (0..<result.rowCount).map { row in columns.indices.map { result.text(row, $0) } }
            Terminal.write(TextTable.format(columns.map { $0.uppercased() }, rows))
            return .clean
        } catch {
            throw Database.failure(error)
        }
    }

    private static func show(_ name: String, _ arguments: Arguments) throws(CommandError) -> ExitCode {
        let connection = try Database.open(arguments, readsOnly: true)
        var parameters = PGParameters()
        parameters.append(text: name)
        do throws(PGError) {
            let result = try connection.query(
                """
                select \(FactList.Column.selectList) from postrider.operations o
                cross join lateral (values
                  (1, 'name', o.name), (2, 'service', o.service), (3, 'description', o.description),
                  (4, 'revision', o.revision || ', ' || to_char(o.updated_at, 'YYYY-MM-DD HH24:MI:SS TZ')),
                  (5, 'overridable', nullif(array_to_string(o.overridable, ', '), '')),
                  (6, 'arguments', jsonb_pretty(o.arguments)), (7, 'spec', jsonb_pretty(o.spec)),
                  (8, 'call', format('select postrider.call(%L, %L)', o.name, (
                     select coalesce(jsonb_object_agg(rtrim(k, '?'), null), '{}')
                       from jsonb_object_keys(o.arguments) k where k not like '%?')))
                ) f (place, key, value)
                where o.name = $1 and f.value is not null order by f.place
                """, &parameters)
            guard result.rowCount > 0 else {
                let shown = SanitizedText.escape(quoted(name))
                Terminal.write(
                    "worker: there is no operation \(shown); see worker operations list\n", to: .error)
                return .usage
            }
            for row in 0..<result.rowCount {
                let value = SanitizedText.escape(result.text(row, FactList.Column.value), keepsLines: true)
                Terminal.write(FactList.text(result.text(row, FactList.Column.key), value, width: 14))
            }
            return .clean
        } catch {
            throw Database.failure(error)
        }
    }
}
