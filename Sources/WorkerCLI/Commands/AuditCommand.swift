// SPDX-License-Identifier: Apache-2.0

internal import PGClient
internal import Reactor

/// `worker audit`: tries the list of hostile inputs on this program, with the installed libcurl and the database.
enum AuditCommand {
    static let spec = CommandSpec(
        name: "audit",
        summary: "send the hostile-input list at itself, and say of each input how it ended",
        flags: [Database.flag],
        details: [
            "Calls go to servers of its own on loopback: forbidden addresses, crooked URLs, proxies, redirects, headers, answers",
            "and files, each followed by an innocent call. Bad rows go to the database, in a transaction that is rolled back;",
            "where no database is named and none is found, they are left out. A fault says what was sent, what must become",
            "of it and what did. Ends with 0 if all ended as they must, with 1 if any did not, with 69 or 78 if the database",
            "that is named cannot be reached or its schema is not the one of this program.",
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
            "\(inputs) inputs, " + (faults == 0 ? "all ended as they must" : "\(faults) did not end as they must")
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
            return .none(Finding(.notice, RowAudit.group, "not tried, for no database is named: \(error.message)"))
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
