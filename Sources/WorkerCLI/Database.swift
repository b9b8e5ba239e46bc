// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Connects for a command, and turns database errors into messages for the user.
enum Database {
    /// The flag of each command that uses a database.
    static let flag = Flag(
        name: "database", kind: .text, placeholder: "URL", example: "postgresql://localhost/app",
        fallback: "DATABASE_URL, or libpq's", meaning: "the database: a URL, or key=value words of libpq")

    /// The connection string: the flag or its variable, then `DATABASE_URL`, then libpq's own defaults.
    ///
    /// - Throws: `usage`, which names the source and does not quote the string, since it may contain a password.
    static func connectionString(_ arguments: Arguments) throws(CommandError) -> String {
        let given = arguments.text("database")
        let text = given ?? arguments.environment["DATABASE_URL"] ?? ""
        do throws(PGError) {
            _ = try PGConnectionString(text)
            return text
        } catch {
            let place = given == nil ? "DATABASE_URL" : arguments.place(of: flag)
            throw .usage(place, error.message, "give one like \(flag.example)")
        }
    }

    /// Connects. A command that only reads also accepts servers that are read-only by default.
    ///
    /// - Throws: `usage`, `unreachable`.
    static func connect(_ arguments: Arguments, readsOnly: Bool = false) throws(CommandError) -> PGConnection {
        let text = try connectionString(arguments)
        do throws(PGError) {
            let string = try PGConnectionString(text)
            let connection = readsOnly ? try PGConnection.connectForReading(string) : try PGConnection(string)
            try connection.useSystemSearchPath()
            return connection
        } catch {
            guard error.foundReadOnly, let advice = ReadOnlyDefault.advice(text) else { throw unreachable(error) }
            let other = readsOnly ? "; this command also works with target_session_attrs=primary" : ""
            throw CommandError(.unreachable, "database takes no writes: \(advice)\(other)")
        }
    }

    /// Connects to a database whose schema fits this program.
    ///
    /// - Throws: `usage`, `unreachable`, `schema`.
    static func open(_ arguments: Arguments, readsOnly: Bool = false) throws(CommandError) -> PGConnection {
        let connection = try connect(arguments, readsOnly: readsOnly)
        try check(connection)
        return connection
    }

    /// Checks whether the schema fits this program. Returns the check for later use.
    ///
    /// - Throws: `schema`.
    @discardableResult
    static func check(_ connection: borrowing PGConnection) throws(CommandError) -> SchemaCheck {
        let check: SchemaCheck
        let advice: String?
        do throws(StoreError) {
            check = try SchemaCheck(connection)
            advice = try check.state(connection).advice
        } catch {
            throw failure(error)
        }
        if let advice {
            // If row-level security hides the history of migrations, the advice to migrate would be wrong.
            let hidden = try rowSecurity(connection)
            throw CommandError(.schema, hidden.flatMap { $0.hidesHistory ? $0.text : nil } ?? advice)
        }
        return check
    }

    /// Checks whether the connected role may run jobs.
    ///
    /// - Throws: `usage`.
    static func checkRights(_ connection: borrowing PGConnection) throws(CommandError) {
        guard let missing = try missingRight(connection) else { return }
        throw .usage("--\(flag.name)", missing.reason, missing.remedy)
    }

    /// Why the connected role may not run jobs. Nil if it may, or if the schema is missing.
    static func missingRight(_ connection: borrowing PGConnection) throws(CommandError) -> MissingRight? {
        do throws(PGError) {
            return try MissingRight.toRunJobs(connection)
        } catch {
            throw failure(error)
        }
    }

    /// Checks whether sessions may write, because the connection string may accept any server.
    ///
    /// - Throws: `unreachable`.
    static func checkWrites(_ connection: borrowing PGConnection) throws(CommandError) {
        let advice: String?
        do throws(PGError) {
            advice = try ReadOnlyDefault.advice(connection)
        } catch {
            throw failure(error)
        }
        if let advice { throw CommandError(.unreachable, "database takes no writes: \(advice)") }
    }

    /// Row-level security that hides jobs from a worker; nil if no table has any.
    static func rowSecurity(_ connection: borrowing PGConnection) throws(CommandError) -> RowSecurity? {
        do throws(PGError) {
            return try RowSecurity.found(connection)
        } catch {
            throw failure(error)
        }
    }

    /// Runs a statement.
    ///
    /// - Throws: the error of the statement, as `failure` describes it.
    static func query(
        _ sql: String, _ parameters: inout PGParameters, _ connection: borrowing PGConnection
    ) throws(CommandError) -> PGResult {
        do throws(PGError) {
            return try connection.query(sql, &parameters)
        } catch {
            throw failure(error)
        }
    }

    /// The error of a failed connection, with advice.
    static func unreachable(_ error: PGError) -> CommandError {
        CommandError(
            .unreachable,
            "database cannot be reached: \(error.message); check --database, POSTRIDER_DATABASE or DATABASE_URL")
    }

    /// The error of a failed statement. Refused input is a usage error, a lost connection gives 69, other errors 70.
    static func failure(_ error: PGError) -> CommandError {
        switch error.code {
        case .connect, .timeout, .lost, .connectionString: return unreachable(error)
        case .server, .aborted, .notReady, .unexpected: break
        }
        let hint = error.hint.map { "; \($0)" } ?? ""
        switch error.sqlState?.category {
        // Postrider's own errors, invalid data, violated constraints, and RAISE of PL/pgSQL.
        case "PR", "22", "23", "P0": return CommandError(.usage, error.message + hint)
        // A missing table, function or schema.
        case "42" where error.sqlState?.rawValue == "42P01" || error.sqlState?.rawValue == "42883", "3F":
            return CommandError(.schema, "\(error.message); run: worker migrate")
        case "42" where error.sqlState == .insufficientPrivilege:
            return refused(error.message)
        default: return CommandError(.internalError, error.description + hint)
        }
    }

    /// The error about a missing right.
    private static func refused(_ message: String) -> CommandError {
        CommandError(.usage, "\(message); the role that connects needs more rights, see docs/roles.md")
    }

    /// The error of the migrator or of a schema check.
    static func failure(_ error: StoreError) -> CommandError {
        switch error.code {
        case .newer, .changed, .unreleased: CommandError(.schema, error.message)
        case .locked: CommandError(.internalError, error.message)
        case .files: CommandError(.internalError, error.message)
        case .database:
            switch error.underlying?.code {
            case .connect, .timeout, .lost: CommandError(.unreachable, error.message)
            case .server where error.underlying?.sqlState == .insufficientPrivilege:
                refused(error.message)
            default: CommandError(.internalError, error.message)
            }
        }
    }
}
