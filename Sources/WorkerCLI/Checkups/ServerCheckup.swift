// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient
internal import Reactor

/// The findings of `worker doctor` about the PostgreSQL server.
enum ServerCheckup {
    private enum Column: Int, PGColumn {
        case version, isNewEnough, isStandby, fsync, waitsForDisk, autovacuum, oldestSeconds, waits, seesAll, login

        var sql: StaticString {
            switch self {
            case .version: "current_setting('server_version') as version"
            case .isNewEnough: "current_setting('server_version_num')::int >= 150000 as is_new_enough"
            case .isStandby: "pg_is_in_recovery() as is_standby"
            case .fsync: "current_setting('fsync')::boolean as fsync"
            case .waitsForDisk: "current_setting('synchronous_commit') <> 'off' as waits_for_disk"
            case .autovacuum: "current_setting('autovacuum')::boolean as autovacuum"
            // The oldest transaction is one that has a snapshot or an id: only such transactions keep VACUUM from
            // removing rows.
            case .oldestSeconds:
                """
                (select coalesce(max(extract(epoch from clock_timestamp() - a.xact_start)), 0)::bigint
                   from pg_stat_activity a where a.pid <> pg_backend_pid()
                     and (a.backend_xmin is not null or a.backend_xid is not null)) as oldest_seconds
                """
            // A transaction of postrider.wait keeps its locks on the tables that retention drops.
            case .waits:
                """
                (select string_agg(format('pid %s of %s (%s s)', w.pid, w.usename, w.seconds), ', '
                                   order by w.seconds desc)
                   from (select a.pid, a.usename,
                                extract(epoch from clock_timestamp() - a.xact_start)::bigint as seconds
                           from pg_stat_activity a
                          where a.pid <> pg_backend_pid() and a.datname = current_database()
                            and a.xact_start < clock_timestamp() - interval '5 s'
                            and a.query ~* 'postrider[.]wait *[(]'
                          order by a.xact_start limit 5) w) as waits
                """
            case .seesAll: "pg_has_role('pg_read_all_stats', 'usage') as sees_all"
            case .login: "current_user::text as login"
            }
        }
    }

    /// The findings about version, round trip, clock, durability and old transactions. If the login runs jobs, also
    /// about free connections.
    static func findings(_ connection: borrowing PGConnection, runsJobs: Bool) throws(PGError) -> [Finding] {
        let answer = try connection.query("select \(Column.selectList)")
        let version = answer.text(0, Column.version)
        let milliseconds = try roundTrip(connection)
        var findings: [Finding] = []
        if !answer.bool(0, Column.isNewEnough) {
            findings.append(Finding(.fault, "database", "PostgreSQL \(version); 15 or newer is needed"))
        } else if answer.bool(0, Column.isStandby) {
            findings.append(
                Finding(
                    .fault, "database",
                    "a standby, which takes no writes; name all hosts and add target_session_attrs=read-write to --database"
                ))
        } else if let advice = try ReadOnlyDefault.advice(connection) {
            findings.append(Finding(.fault, "database", "takes no writes: \(advice)"))
        } else if milliseconds > 10 {
            findings.append(
                Finding(
                    .notice, "database",
                    "PostgreSQL \(version), a statement takes \(shown(milliseconds)) ms: "
                        + "jobs start and end that much later; run workers closer to it"
                ))
        } else {
            findings.append(
                Finding(.ok, "database", "PostgreSQL \(version), a statement takes \(shown(milliseconds)) ms")
            )
        }
        findings.append(try clock(connection))
        findings.append(
            answer.bool(0, Column.fsync) && answer.bool(0, Column.waitsForDisk)
                ? Finding(.ok, "durability", "a commit is on disk when it returns")
                : Finding(
                    .notice, "durability",
                    "fsync or synchronous_commit is off: a crash may lose the latest commits; switch both on"
                ))
        findings.append(
            answer.bool(0, Column.autovacuum)
                ? Finding(.ok, "autovacuum", "on")
                : Finding(.fault, "autovacuum", "off: tables grow with each job; set autovacuum = on"))
        if runsJobs { findings.append(try ConnectionCheckup.finding(connection)) }
        findings.append(
            oldestTransaction(
                answer.int64(0, Column.oldestSeconds), seesAll: answer.bool(0, Column.seesAll),
                role: answer.text(0, Column.login)))
        if let waits = answer.optionalText(0, Column.waits) {
            findings.append(
                Finding(
                    .notice, "waits",
                    "transactions with postrider.wait hold up retention: \(waits); commit after each wait"))
        }
        return findings
    }

    /// The finding about the oldest transaction, by its age in seconds. A login that may not read all statistics sees
    /// no transactions of other roles.
    private static func oldestTransaction(_ age: Int64, seesAll: Bool, role: String) -> Finding {
        if age >= 3600 {
            return Finding(
                .notice, "transaction",
                "a transaction has been open for \(age / 60) min: throughput stays, but tables grow; "
                    + "see xact_start in pg_stat_activity"
            )
        }
        guard seesAll else {
            return Finding(
                .notice, "transaction",
                "\(role) does not see the transactions of other roles; as a superuser or with ADMIN OPTION on pg_read_all_stats: grant pg_read_all_stats to \(role)"
            )
        }
        return Finding(
            .ok, "transaction", age < 1 ? "no transaction is open" : "the oldest open transaction is \(age) s old")
    }

    /// The median of five round trips, in milliseconds.
    private static func roundTrip(_ connection: borrowing PGConnection) throws(PGError) -> Double {
        var times: [UInt64] = []
        for _ in 0..<5 {
            let start = MonotonicClock.now
            _ = try connection.query("select 1")
            times.append(MonotonicClock.now - start)
        }
        return Double(times.sorted()[2]) / 1_000_000
    }

    /// The finding about clocks. Times of jobs use the database's clock; tokens, webhooks and certificates use this
    /// machine's.
    private static func clock(_ connection: borrowing PGConnection) throws(PGError) -> Finding {
        var before = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &before)
        let databaseTime = try connection.query(
            "select (extract(epoch from clock_timestamp()) * 1000)::bigint as value"
        ).int64(0, PGValueColumn.value)
        var after = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &after)
        // Without a difference the database's time lies between the two of this machine.
        let difference = max(databaseTime - milliseconds(after), milliseconds(before) - databaseTime, 0)
        return difference <= 1000
            ? Finding(.ok, "clocks", "this machine's and the database's agree within a second")
            : Finding(
                .notice, "clocks",
                "this machine's and the database's differ by \(difference / 1000) s: tokens and webhook signatures may be refused; run NTP on both"
            )
    }

    private static func milliseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func shown(_ milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
