// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// The flags by which `worker jobs` and `worker retry --failed` choose jobs.
enum JobFilterFlags {
    /// The flags in the order of help.
    static let all = [
        Flag(
            name: "queue", kind: .text, placeholder: "Q", example: "default", isRepeatable: true,
            isCommandLineOnly: true, meaning: "only this queue"),
        Flag(
            name: "lane", kind: .text, placeholder: "LANE", example: "api.example.com:443", isCommandLineOnly: true,
            meaning: "only this lane: jobs.lane, or the name of the service, or host:port"),
        Flag(
            name: "service", kind: .text, placeholder: "NAME", example: "billing", isCommandLineOnly: true,
            meaning: "only jobs of this service"),
        Flag(
            name: "operation", kind: .text, placeholder: "NAME", example: "accounts.get_user", isCommandLineOnly: true,
            meaning: "only jobs of this operation"),
        Flag(
            name: "tag", kind: .text, placeholder: "TAG", example: "invoices", isCommandLineOnly: true,
            meaning: "only jobs with this tag"),
        Flag(
            name: "error", kind: .text, placeholder: "CODE", example: "connect", isCommandLineOnly: true,
            meaning: "only this error code, as in postrider.error_codes", proposals: ErrorCode.allCases.map(\.rawValue)),
        Flag(
            name: "since", kind: .text, placeholder: "TIME", example: "2h", isCommandLineOnly: true,
            meaning: "only jobs that ended then or later: an age like 30m, 2h or 7d, or a time"),
        Flag(
            name: "until", kind: .text, placeholder: "TIME", example: "\"2026-12-24 18:00+01\"",
            isCommandLineOnly: true, meaning: "only jobs that ended before this age or time"),
    ]

    /// The filter of these flags.
    ///
    /// - Parameter limit: the most jobs.
    /// - Throws: `usage` for an unknown error code and for a text that is no time.
    static func filter(
        _ arguments: Arguments, state: String?, limit: Int, _ connection: borrowing PGConnection
    ) throws(CommandError) -> JobFilter {
        if let code = arguments.text("error") { try checkErrorCode(code, connection) }
        return JobFilter(
            state: state, queues: arguments.texts("queue"), tag: arguments.text("tag"), lane: arguments.text("lane"),
            service: arguments.text("service"), operation: arguments.text("operation"),
            errorCode: arguments.text("error"), since: try time("since", arguments, connection),
            until: try time("until", arguments, connection), limit: limit)
    }

    private static func checkErrorCode(
        _ code: String, _ connection: borrowing PGConnection
    ) throws(CommandError) {
        var parameters = PGParameters()
        parameters.append(text: code)
        let sql = "select exists (select from postrider.error_codes e where e.code = $1) as value"
        guard try Database.query(sql, &parameters, connection).bool(0, PGValueColumn.value) else {
            throw .usage(
                "--error", "\(quoted(code)) is not an error code", "see select code from postrider.error_codes")
        }
    }

    /// The time of a flag as text, by the clock of the database. Nil without the flag.
    private static func time(
        _ name: String, _ arguments: Arguments, _ connection: borrowing PGConnection
    ) throws(CommandError) -> String? {
        guard let text = arguments.text(name) else { return nil }
        let age = AgeText.seconds(text)
        var parameters = PGParameters()
        parameters.append(float8: age)
        parameters.append(text: age == nil ? text : nil)
        do throws(PGError) {
            return try connection.query(
                "select coalesce(now() - make_interval(secs => $1), $2::timestamptz)::text as value", &parameters
            ).text(0, PGValueColumn.value)
        } catch {
            guard error.sqlState?.category == "22" else { throw Database.failure(error) }
            throw .usage(
                "--\(name)", "\(quoted(text)) is neither an age nor a time",
                "give one like 2h or \"2026-12-24 18:00+01\"")
        }
    }
}
