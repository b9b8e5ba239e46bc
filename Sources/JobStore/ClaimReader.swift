// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Turns the rows of `postrider.claim` into jobs.
public struct ClaimReader: Sendable {
    /// First part of every Idempotency-Key.
    private let installation: String
    /// The header that carries the key.
    private let idempotencyHeader: String
    private let allowsPrivateNetwork: Bool

    /// A reader for a fleet's settings, as `enlist` returned them.
    public init(installation: String, idempotencyHeader: String, allowsPrivateNetwork: Bool) {
        self.installation = installation
        self.idempotencyHeader = idempotencyHeader
        self.allowsPrivateNetwork = allowsPrivateNetwork
    }

    /// The job in a row of the result; columns as `StoreStatement.claim` names them.
    public func job(_ result: borrowing PGResult, _ row: Int) -> ClaimedJob {
        let lease = Lease(
            track: result.int32(row, 0), seq: result.int64(row, 1), fence: result.int64(row, 2),
            jobID: result.int64(row, 3), attempt: result.int32(row, 4))
        let method = HTTPMethod(rawValue: result.text(row, 7)) ?? .get
        var call = HTTPCall(method: method, url: result.text(row, 8), allowsPrivateNetwork: allowsPrivateNetwork)
        if !result.isNull(row, 9) {
            call.query = ClaimReader.pairs(result.texts(row, 9)).map { FormField($0.0, $0.1) }
        }
        if !result.isNull(row, 10) {
            call.headers = ClaimReader.pairs(result.texts(row, 10)).map { HTTPHeader($0.0, $0.1) }
        }
        switch result.text(row, 11) {
        case "b": call.body = .bytes(result.bytes(row, 12), contentType: nil)
        case "j": call.body = .bytes(result.bytes(row, 12), contentType: "application/json")
        case "f": call.body = .form(ClaimReader.pairs(result.texts(row, 13)).map { FormField($0.0, $0.1) })
        default: break
        }
        if !result.isNull(row, 14) { call.limits.total = .milliseconds(Int64(result.int32(row, 14))) }
        if let bytes = result.optionalInt64(row, 15) { call.limits.maxResponseBytes = Int(bytes) }
        let isAtMostOnce = result.bool(row, 5)
        let hasKey = addKey(to: &call, jobID: lease.jobID, rekey: result.int16(row, 6))
        call.isRepeatable = !isAtMostOnce && (hasKey || method.isIdempotent)
        let okStatuses = result.isNull(row, 16) ? .success : StatusRanges(bounds: result.int32s(row, 16))
        return ClaimedJob(lease: lease, call: call, isAtMostOnce: isAtMostOnce, okStatuses: okStatuses)
    }

    /// The same key on every try of a job, so that a server can tell a repetition; the job's own header wins.
    ///
    /// - Returns: whether the call has a key now.
    private func addKey(to call: inout HTTPCall, jobID: Int64, rekey: Int16) -> Bool {
        switch call.method {
        case .get, .head, .options: return false
        case .post, .put, .delete, .patch: break
        }
        let name = idempotencyHeader.lowercased()
        guard !call.headers.contains(where: { $0.name.lowercased() == name }) else { return true }
        let suffix = rekey > 0 ? "-\(rekey)" : ""
        call.headers.append(HTTPHeader(idempotencyHeader, "\(installation)-\(jobID)\(suffix)"))
        return true
    }

    private static func pairs(_ flat: [String]) -> [(String, String)] {
        stride(from: 0, to: flat.count - 1, by: 2).map { (flat[$0], flat[$0 + 1]) }
    }
}
