// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// `worker migrate`: brings the schema up to date, or says how far it is.
enum MigrateCommand {
    static let spec = CommandSpec(
        name: "migrate",
        summary: "bring the schema postrider up to date",
        flags: [
            Database.flag,
            Flag(
                name: "status", kind: .toggle,
                meaning: "change nothing; list the files, end with 0 if all are applied, with 78 if not"),
        ],
        details: ["All or nothing, in one transaction; several at once wait for each other."],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.connect(arguments)
            do throws(StoreError) {
                return try arguments.isOn("status") ? status(connection) : migrate(connection)
            } catch {
                throw Database.failure(error)
            }
        })

    private static func migrate(_ connection: borrowing PGConnection) throws(StoreError) -> ExitCode {
        let applied = try Migrator().migrate(connection)
        for name in applied { Terminal.write("applied  \(name)\n") }
        Terminal.write(applied.isEmpty ? "the schema is up to date\n" : "the schema is up to date now\n")
        return .clean
    }

    private static func status(_ connection: borrowing PGConnection) throws(StoreError) -> ExitCode {
        guard let plan = try SchemaCheck(connection).plan(connection) else {
            Terminal.write("the schema postrider is missing; run: worker migrate\n")
            return .schema
        }
        Terminal.write(TextTable.format(["STATE", "FILE"], plan.entries.map { ["\($0.standing)", $0.name] }))
        if let advice = plan.state.advice {
            Terminal.write(advice + "\n")
            return .schema
        }
        return .clean
    }
}
