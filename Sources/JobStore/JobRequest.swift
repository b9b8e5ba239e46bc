// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Reads the call of one job for people, with a text in the place of each secret.
public enum JobRequest {
    /// The facts behind the columns of `prepare`.
    private enum KeyColumn: Int, PGColumn {
        case keyPrefix, keyHeader, rekey, atMostOnce

        var sql: StaticString {
            switch self {
            case .keyPrefix: "key_prefix"
            case .keyHeader: "key_header"
            case .rekey: "rekey"
            case .atMostOnce: "at_most_once"
            }
        }

        /// The place of the column in the result.
        var place: Int { PrepareColumn.allCases.count + rawValue }
    }

    /// The call as a worker would make it now, and nil; or the reason why no call could be made.
    ///
    /// It is read by the same code as a worker's.
    ///
    /// - Parameters:
    ///   - mask: letters and digits that stand for each secret.
    ///   - showsServices: whether values of services are shown to a login that may read services.
    ///   - withoutBody: whether an empty body of the same kind replaces the body.
    public static func call(
        of id: Int64, mask: String, showsServices: Bool, withoutBody: Bool = false,
        _ connection: borrowing PGConnection
    ) throws(PGError) -> (call: HTTPCall?, defect: String?) {
        var parameters = PGParameters()
        parameters.append(int64: id)
        parameters.append(text: mask)
        parameters.append(bool: showsServices)
        parameters.append(bool: withoutBody)
        let result = try connection.query(
            """
            select \(PrepareColumn.selectList), \(KeyColumn.selectList)
              from postrider_internal.job_request($1,
                (select t.ticket from postrider_internal.tickets t where t.id = $1),
                (select t.service_ticket from postrider_internal.tickets t where t.id = $1 and $3), $2, $4)
            """, &parameters)
        guard result.rowCount == 1 else { return (nil, "it was deleted") }
        let reader = CallReader(
            prefixes: KeyPrefixes(installation: result.text(0, KeyColumn.keyPrefix.place)),
            idempotencyHeader: result.text(0, KeyColumn.keyHeader.place), allowsPrivateNetwork: true)
        let claimed = ClaimedJob(
            lease: Lease(track: 0, seq: 0, fence: 0, jobID: id, attempt: 1), call: nil,
            isAtMostOnce: result.bool(0, KeyColumn.atMostOnce.place), okStatuses: .success,
            rekey: result.int16(0, KeyColumn.rekey.place))
        let job = PrepareReader(calls: reader).complete(claimed, result, 0)
        guard var call = job.call else { return (nil, "it makes no call") }
        if let stamp = job.webhook { call.headers += stamp.headers(signature: mask) }
        if var use = job.credential {
            // Only curl's option -u writes user and password in Base64.
            if use.isBasic, use.place != .header("Authorization", prefix: "Basic ") { use.isBasic = false }
            if let refusal = call.logIn(with: use, use.plain ?? Secrets()) {
                return (nil, refusal.message ?? "its login does not fit")
            }
        }
        return (call, nil)
    }
}
