// SPDX-License-Identifier: Apache-2.0

internal import PGClient
internal import SecretSealing

/// The findings of `worker doctor` in the schema: the workers, and conditions that need an operator.
enum FleetCheckup {
    private typealias Column = FleetQuestion.Column

    private enum SecretColumn: Int, PGColumn {
        case credential, sealed

        var sql: StaticString {
            switch self {
            case .credential: "s.credential as credential"
            case .sealed: "s.sealed as sealed"
            }
        }
    }

    /// All findings, including whether a worker with these flags could send secrets and sign webhooks.
    static func findings(
        _ connection: borrowing PGConnection, _ configuration: RunConfiguration
    ) throws(PGError) -> [Finding] {
        let answer = try connection.query(FleetQuestion.sql(runsJobs: true))
        var findings = findings(answer)
        findings.append(restore(answer))
        if answer.bool(0, Column.hasCredentials) { findings.append(try secrets(connection, configuration.secretKeys)) }
        if let webhooks = try WebhookCheckup.finding(connection, keys: configuration.webhookKeys) {
            findings.append(webhooks)
        }
        return findings
    }

    /// The findings for a login that does not run jobs: the views show no others.
    static func findings(_ connection: borrowing PGConnection) throws(PGError) -> [Finding] {
        findings(try connection.query(FleetQuestion.sql(runsJobs: false)))
    }

    /// The findings about workers, queues, clients, restores, lanes, credentials, schedules and foreign keys.
    private static func findings(_ answer: borrowing PGResult) -> [Finding] {
        let workers = answer.int64(0, Column.workers)
        var findings = [
            workers == 0
                ? Finding(.notice, "workers", "none is running, so no job is called; start one with: worker run")
                : answer.int64(0, Column.leaders) == 0
                    ? Finding(
                        .notice, "workers",
                        "\(workers) running, none leads; run doctor again in 10 s, then see the workers' logs")
                    : Finding(.ok, "workers", "\(workers) running, one of them leads")
        ]
        if let queues = answer.optionalText(0, Column.pausedQueues) {
            findings.append(
                Finding(.notice, "queues", "paused: \(queues); resume with: worker queue resume NAME"))
        }
        if workers > 0, let untaken = untaken(answer) { findings.append(untaken) }
        if let clients = answer.optionalText(0, Column.clients) {
            findings.append(
                Finding(
                    .notice, "clients",
                    "above 90 % of a limit: \(clients); see postrider.client_status, raise it in postrider.client_limits"
                ))
        }
        if let error = answer.optionalText(0, Column.countError) {
            findings.append(
                Finding(
                    .fault, "clients",
                    "their jobs cannot be counted, so limits use an old count; "
                        + "the leader repeats the count every 10 s: \(error)"
                ))
        }
        if let last = answer.optionalText(0, Column.lastRestore), let lost = answer.optionalText(0, Column.lost) {
            findings.append(
                Finding(
                    .notice, "restores",
                    "within the last day: \(lost); last restore found at \(last); "
                        + "see postrider.restores and docs/operating.md"
                ))
        }
        let lanes = answer.int64(0, Column.pausedLanes)
        if lanes > 0 {
            findings.append(
                Finding(
                    .notice, "lanes",
                    "\(lanes) paused until resumed; see postrider.lane_status; resume with: worker lane resume NAME"))
        }
        if let names = answer.optionalText(0, Column.loggedOff) {
            findings.append(
                Finding(.notice, "credentials", "logged off: \(names); log in with: worker credential set NAME"))
        }
        if let services = answer.optionalText(0, Column.stubs) {
            findings.append(
                Finding(
                    .notice, "stubs",
                    "no real call for: \(services); set services.stub to null to call their servers"))
        }
        let schedules = answer.int64(0, Column.failingSchedules)
        if schedules > 0 {
            findings.append(
                Finding(
                    .notice, "schedules",
                    "\(schedules) cannot make their jobs; see last_error in postrider.schedule_status"))
        }
        if let tables = answer.optionalText(0, Column.referencingTables) {
            findings.append(
                Finding(
                    .notice, "retention",
                    "foreign keys to postrider.jobs (\(tables)): old jobs are deleted slowly, row by row; "
                        + "see docs/retention.md"
                ))
        }
        return findings
    }

    /// Whether the next worker that starts will detect a restore.
    private static func restore(_ answer: borrowing PGResult) -> Finding {
        if answer.bool(0, Column.isRestored) {
            return Finding(
                .notice, "identity",
                "restored: the first worker to start ends \(answer.int64(0, Column.leases)) leases, "
                    + "\(answer.int64(0, Column.leasesAtMostOnce)) of them (at_most_once) as unknown; "
                    + "see docs/operating.md"
            )
        }
        let last = answer.optionalText(0, Column.lastRestore).map { "; last restore found at \($0)" } ?? ""
        return Finding(.ok, "identity", "the database matches its stored identity\(last)")
    }

    /// The finding about ready jobs in queues that no running worker takes. Nil without such jobs.
    private static func untaken(_ answer: borrowing PGResult) -> Finding? {
        let queues = answer.int64(0, Column.untakenQueues)
        guard queues > 0 else { return nil }
        let named = answer.texts(0, Column.untaken)
        let more = queues - Int64(named.count)
        return Finding(
            .notice, "ready jobs",
            "\(answer.int64(0, Column.untakenJobs)) in queues that no running worker takes: "
                + named.joined(separator: ", ")
                + (more > 0 ? " and \(more) more" : "")
                + "; start a worker with --queue NAME, or cancel them: select postrider.cancel_all(queue => 'NAME')")
    }

    /// The finding about the keys: whether they open the sealed secrets of at most 1,000 credentials.
    private static func secrets(
        _ connection: borrowing PGConnection, _ keys: SecretKeys?
    ) throws(PGError) -> Finding {
        guard let keys else {
            return Finding(
                .notice, "secrets",
                "there are credentials, but no key is set here to open their secrets; "
                    + "set POSTRIDER_SECRET_KEY as on the other workers"
            )
        }
        let sealed = try connection.query(
            """
            select \(SecretColumn.selectList) from postrider_internal.secrets s
            where s.sealed is not null order by s.credential limit 1000
            """)
        let unopened = (0..<sealed.rowCount).filter {
            keys.open(sealed.bytes($0, SecretColumn.sealed), for: sealed.text($0, SecretColumn.credential)) == nil
        }
        guard let first = unopened.first else { return Finding(.ok, "secrets", "there is a key for the credentials") }
        return Finding(
            .fault, "secrets",
            "no key here opens the secrets of \(unopened.count) of \(sealed.rowCount) credentials, like "
                + "\(quoted(sealed.text(first, SecretColumn.credential))); "
                + "add the key that sealed them after the newest key in POSTRIDER_SECRET_KEY"
        )
    }
}
