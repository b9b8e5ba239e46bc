// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import OpenAPI
internal import PGClient

/// `worker operations import FILE --service NAME`.
enum OperationsImport {
    /// The largest file: 64 MiB.
    private static let limit = 64 << 20

    /// The outcomes for an operation, in the order of the summary.
    private static let outcomes = ["added", "changed", "same", "kept", "refused", "gone"]

    private enum ResultColumn: Int, PGColumn {
        case name, outcome, reason

        var sql: StaticString {
            switch self {
            case .name: "i.name as name"
            case .outcome: "i.outcome as outcome"
            case .reason: "i.reason as reason"
            }
        }
    }

    static func run(_ path: String, _ arguments: Arguments) throws(CommandError) -> ExitCode {
        guard let service = arguments.text("service") else {
            throw .usage("--service", "is missing", "give the service of the operations, like --service accounts")
        }
        guard service.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw .usage("--service", "holds a control character", "give a name on one line")
        }
        let api = try read(path, service)
        let proposal = SanitizedText.escape(api.proposal.sql, keepsLines: true) + "\n"
        let connection = try Database.open(arguments)
        let isDry = arguments.isOn("dry-run")
        do throws(PGError) {
            try connection.execute("begin")
            guard try hasService(service, isDry, connection) else {
                try connection.execute("rollback")
                Terminal.write(proposal)
                Terminal.write(
                    "worker: there is no service \(quoted(service)); insert it first, for example as shown, or use --dry-run\n",
                    to: .error)
                return .usage
            }
            let report = try store(api, service, overwrites: arguments.isOn("force"), connection)
            try connection.execute(isDry ? "rollback" : "commit")
            let count = api.operations.count == 1 ? "1 operation" : "\(api.operations.count) operations"
            let title = "\(service): \(count) of OpenAPI \(api.version)"
            Terminal.write(SanitizedText.escape(title) + (isDry ? ", nothing is changed\n" : "\n"))
            Terminal.write(report + remarks(api) + "\n" + proposal)
            return .clean
        } catch {
            throw Database.failure(error)
        }
    }

    private static func read(_ path: String, _ service: String) throws(CommandError) -> ImportedAPI {
        guard let bytes = try Terminal.read(path, limit: limit) else {
            throw .usage("FILE \(quoted(path))", "longer than 64 MiB", "give a smaller file")
        }
        do throws(DocumentError) {
            return try ImportedAPI(bytes, service: service)
        } catch {
            let line = error.line.map { ", line \($0)" } ?? ""
            throw .usage(
                "FILE \(quoted(path))\(line)", error.reason, "give an OpenAPI file, version 3.0 or 3.1, JSON or YAML")
        }
    }

    /// Whether the service exists. A dry run inserts one, and its transaction is rolled back.
    private static func hasService(
        _ service: String, _ isDry: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) -> Bool {
        var parameters = PGParameters()
        parameters.append(text: service)
        let found = try connection.query("select from postrider.services where name = $1", &parameters)
        if found.rowCount > 0 { return true }
        guard isDry else { return false }
        _ = try connection.query(
            "insert into postrider.services (name, base_url) values ($1, 'https://api.example.com')", &parameters)
        return true
    }

    /// Writes the operations. Returns a line with counts, and a line for each operation that is not the same.
    private static func store(
        _ api: ImportedAPI, _ service: String, overwrites: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) -> String {
        var parameters = PGParameters()
        parameters.append(text: service)
        parameters.append(text: JSONValue.array(api.operations.map(\.row)).text)
        parameters.append(texts: api.operations.map(\.name) + api.namesLeftOut)
        parameters.append(bool: overwrites)
        let result = try connection.query(
            """
            select \(ResultColumn.selectList)
            from postrider_internal.import_operations($1, $2::jsonb, $3, $4) i
            """, &parameters)
        let places = Dictionary(api.operations.map { ($0.name, $0.place) }) { first, _ in first }
        var counts: [String: Int] = [:]
        var lines = ""
        for row in 0..<result.rowCount {
            let name = result.text(row, ResultColumn.name)
            let outcome = result.text(row, ResultColumn.outcome)
            counts[outcome, default: 0] += 1
            switch outcome {
            case "same": break
            case "kept": lines += line(outcome, "\(name): was edited since; --force overwrites it")
            case "gone": lines += line(outcome, "\(name): is not in the file; delete it if nothing uses it")
            case "refused":
                lines += line(
                    outcome, "\(places[name] ?? name): \(result.optionalText(row, ResultColumn.reason) ?? "")")
            default: lines += line(outcome, name)
            }
        }
        let summary = outcomes.compactMap { outcome in counts[outcome].map { "\($0) \(outcome)" } }
        return (summary.isEmpty ? "" : summary.joined(separator: ", ") + "\n") + lines
    }

    private static func remarks(_ api: ImportedAPI) -> String {
        api.remarks.map { remark in
            line(remark.kind == .note ? "note" : "skipped", "\(remark.place): \(remark.reason)")
        }.joined()
    }

    private static func line(_ word: String, _ text: String) -> String {
        word + String(repeating: " ", count: max(1, 9 - word.count)) + SanitizedText.escape(text) + "\n"
    }
}
