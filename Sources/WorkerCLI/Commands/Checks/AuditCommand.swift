// SPDX-License-Identifier: Apache-2.0

internal import PGClient
internal import Reactor

/// `worker audit`: tries the list of hostile inputs on this program, with the installed libcurl and the database.
enum AuditCommand {
    static let spec = CommandSpec(
        name: "audit", group: .checks,
        summary: "send hostile inputs to itself, and report how each one ended",
        example: "audit",
        flags: [Database.flag],
        details: [
            "The calls go to servers that it starts on loopback: forbidden addresses, malformed URLs, proxies, redirects,",
            "headers, answers and files. Bad rows go to the database in a transaction that is rolled back. Without a database",
            "this part is left out. A fault names the input, the expected end and the real end.",
            "Ends with 0 without faults, with 1 otherwise, with 69 or 78 if the database cannot be used.",
        ],
        run: { (arguments) throws(CommandError) in
            // An error in the connection is reported before the list, where the user sees it.
            let database = try open(arguments)
            // Signals are blocked before the servers' threads start. Otherwise a Ctrl-C would leave the directory
            // behind.
            let signals = try EndSignals.take()
            var tally = Tally()
            let ground = try AuditGround()
            ground.setTrap()
            let driver = try AuditDriver(ground)
            for input in HostileInput.all(ground) {
                tally.report(AuditVerdict.finding(input, try driver.trace(input)))
                guard signals.read().isEmpty else {
                    Terminal.write("stopped by a signal after \(tally.inputs) inputs\n")
                    return .failed
                }
            }
            try audit(database, &tally)
            Terminal.write(tally.words + "\n")
            return tally.faults == 0 ? .clean : .failed
        })

    /// The database for the bad rows.
    private enum RowTarget: ~Copyable {
        case database(RowAudit)
        /// No database. The finding says why.
        case none(Finding)
    }

    /// The counts of the lines so far.
    private struct Tally {
        private(set) var inputs = 0
        private(set) var faults = 0

        /// Writes a line, and counts it if it is about an input.
        mutating func report(_ finding: Finding) {
            Terminal.write([finding])
            if finding.grade != .notice { inputs += 1 }
            if finding.grade == .fault { faults += 1 }
        }

        var words: String {
            "\(inputs) inputs, " + (faults == 0 ? "all ended as required" : "\(faults) did not end as required")
        }
    }

    /// Connects to the database that the arguments name, otherwise to libpq's default. Only a named database must be
    /// reachable.
    private static func open(_ arguments: Arguments) throws(CommandError) -> RowTarget {
        do throws(CommandError) {
            let connection = try Database.open(arguments)
            do throws(PGError) {
                let rows = RowAudit(connection)
                if let obstacle = try rows.obstacle() { return .none(obstacle) }
                return .database(rows)
            } catch {
                throw Database.failure(error)
            }
        } catch {
            guard !isNamed(arguments) else { throw error }
            return .none(Finding(.notice, RowAudit.group, "skipped, because no database is named: \(error.message)"))
        }
    }

    /// Whether the flag, its variable or a variable of libpq names the database.
    private static func isNamed(_ arguments: Arguments) -> Bool {
        if arguments.text(Database.flag.name) != nil { return true }
        return ["DATABASE_URL", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE"]
            .contains { arguments.environment[$0]?.isEmpty == false }
    }

    /// Tries the bad rows, or reports why they are not tried.
    private static func audit(_ target: consuming RowTarget, _ tally: inout Tally) throws(CommandError) {
        switch consume target {
        case .none(let finding): tally.report(finding)
        case .database(let rows):
            do throws(PGError) {
                try rows.run(HostileRows.all) { tally.report($0) }
            } catch {
                throw Database.failure(error)
            }
        }
    }
}
