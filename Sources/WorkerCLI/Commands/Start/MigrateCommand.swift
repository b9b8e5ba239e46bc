// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// `worker migrate`: brings the schema up to date, or shows its state.
enum MigrateCommand {
    static let spec = CommandSpec(
        name: "migrate", group: .start,
        summary: "create or upgrade the schema in the database",
        example: "migrate --database postgresql://app@db/app",
        flags: [
            Database.flag,
            Flag(
                name: "status", kind: .toggle,
                isCommandLineOnly: true,
                meaning: "change nothing; list the files, end with 0 if all are applied, with 78 if not"),
            Flag(
                name: "print", kind: .text, placeholder: "FILE", example: "functions/queue/claim.sql",
                isCommandLineOnly: true,
                meaning: "change nothing; show a file of migrations/ as it is applied, planner settings included"),
            Flag(
                name: "no-roles", kind: .toggle,
                isCommandLineOnly: true,
                meaning: "make no roles and change no privileges; all objects belong to the login"),
        ],
        details: ["It runs in one transaction. Several at the same time wait for each other."],
        run: { (arguments) throws(CommandError) in
            if let name = arguments.text("print") { return try show(name) }
            let connection = try Database.connect(arguments, readsOnly: arguments.isOn("status"))
            do throws(StoreError) {
                return try arguments.isOn("status")
                    ? status(connection) : migrate(connection, setsUpRoles: !arguments.isOn("no-roles"))
            } catch {
                throw failure(error, connection)
            }
        })

    /// Prints a file of `migrations/` as it is applied.
    private static func show(_ name: String) throws(CommandError) -> ExitCode {
        let text: String?
        do throws(StoreError) { text = try Migrator.text(of: name) } catch { throw Database.failure(error) }
        guard let text else {
            throw .usage("--print", "there is no file \(name)", "worker migrate --status lists all")
        }
        Terminal.write(text)
        return .clean
    }

    private static func migrate(
        _ connection: borrowing PGConnection, setsUpRoles: Bool
    ) throws(StoreError) -> ExitCode {
        let outcome = try Migrator().migrate(connection, setsUpRoles: setsUpRoles)
        for name in outcome.applied where !name.contains("/") { Terminal.write("applied  \(name)\n") }
        // Hundreds of lines would hide the numbered files, so only the count is printed. `--status` lists all.
        for folder in ["functions", "views"] {
            let count = outcome.applied.count { $0.hasPrefix("\(folder)/") }
            if count > 0 { Terminal.write("applied  \(folder): \(count)\n") }
        }
        Terminal.write(outcome.applied.isEmpty ? "the schema is up to date\n" : "the schema is up to date now\n")
        if let note = outcome.note {
            // The schema is migrated, so a failed query for the advice is no error.
            let remedy = (try? MissingRight.remedyOfRoles(connection)) ?? "see docs/roles.md"
            Terminal.write("\(note); \(remedy)\n")
        }
        return .clean
    }

    /// The error of the migrator. If the login lacks the rights of the schema's owner, the message says how to get
    /// them.
    private static func failure(_ error: StoreError, _ connection: borrowing PGConnection) -> CommandError {
        guard error.underlying?.sqlState == .insufficientPrivilege,
            let remedy = try? MissingRight.remedyOfMigration(connection)
        else { return Database.failure(error) }
        return CommandError(.usage, "\(error.message); \(remedy)")
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
