// SPDX-License-Identifier: Apache-2.0

internal import PGClient
internal import SecretSealing

/// What `worker doctor` finds in the schema: who works, and what waits for a person.
enum FleetCheckup {
    private static let question = """
        select (select count(*) from postrider.workers w where w.ended_at is null and w.heartbeat_at > now() - interval '10 s'),
          (select count(*) from postrider.leases l where l.name = 'leader' and l.until > now()),
          (select string_agg(quote_literal(q.name), ', ' order by q.name) from postrider.queues q where q.paused),
          (select count(*) from postrider.lanes l where l.paused_until = 'infinity'),
          exists (select from postrider.credentials),
          (select string_agg(quote_literal(c.name), ', ' order by c.name) from postrider.credential_status c where c.state = 'logged_off'),
          (select count(*) from postrider.schedules s where s.enabled and s.last_error is not null),
          (select string_agg(t.name::text, ', ' order by t.name::text) from postrider.referencing_tables() t (name))
        """

    /// Workers, pauses, credentials, schedules, foreign keys.
    static func findings(_ connection: borrowing PGConnection, keys: SecretKeys?) throws(PGError) -> [Finding] {
        let answer = try connection.query(question)
        let workers = answer.int64(0, 0)
        var findings = [
            workers == 0
                ? Finding(.notice, "workers", "none is running: no job is called; start one with: worker run")
                : answer.int64(0, 1) == 0
                    ? Finding(
                        .notice, "workers",
                        "\(workers) running, none leads: wait 10 s and look again, then at their logs")
                    : Finding(.ok, "workers", "\(workers) running, one of them leads")
        ]
        if let queues = answer.optionalText(0, 2) {
            findings.append(
                Finding(.notice, "queues", "paused: \(queues); worker queue resume NAME lets them run again"))
        }
        let lanes = answer.int64(0, 3)
        if lanes > 0 {
            findings.append(
                Finding(
                    .notice, "lanes",
                    "\(lanes) paused until resumed; see postrider.lane_status, worker lane resume NAME"))
        }
        if answer.bool(0, 4) { findings.append(try secrets(connection, keys)) }
        if let names = answer.optionalText(0, 5) {
            findings.append(
                Finding(.notice, "credentials", "logged off: \(names); log in with: worker credential set NAME"))
        }
        let schedules = answer.int64(0, 6)
        if schedules > 0 {
            findings.append(
                Finding(
                    .notice, "schedules",
                    "\(schedules) cannot make their jobs; see last_error in postrider.schedule_status"))
        }
        if let tables = answer.optionalText(0, 7) {
            findings.append(
                Finding(
                    .notice, "retention",
                    "foreign keys onto postrider.jobs (\(tables)): old jobs are deleted row by row, no range is dropped; see docs/retention.md"
                ))
        }
        return findings
    }

    /// Whether the keys open what is sealed; 1,000 secrets are tried.
    private static func secrets(
        _ connection: borrowing PGConnection, _ keys: SecretKeys?
    ) throws(PGError) -> Finding {
        guard let keys else {
            return Finding(
                .notice, "secrets",
                "there are credentials, and no key here to open their secrets; set POSTRIDER_SECRET_KEY as on the other workers"
            )
        }
        let sealed = try connection.query(
            "select s.credential, s.sealed from postrider.secrets s where s.sealed is not null order by 1 limit 1000")
        let shut = (0..<sealed.rowCount).filter { keys.open(sealed.bytes($0, 1), for: sealed.text($0, 0)) == nil }
        guard let first = shut.first else { return Finding(.ok, "secrets", "there is a key for the credentials") }
        return Finding(
            .fault, "secrets",
            "no key here opens the secrets of \(shut.count) of \(sealed.rowCount) credentials, like "
                + "\(quoted(sealed.text(first, 0))); give the key that sealed them behind the newest, in POSTRIDER_SECRET_KEY"
        )
    }
}
