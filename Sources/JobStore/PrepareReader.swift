// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Completes claimed jobs with the rows of `postrider_internal.prepare`.
public struct PrepareReader: Sendable {
    private let calls: CallReader

    /// A reader with the fleet's settings.
    public init(calls: CallReader) {
        self.calls = calls
    }

    /// The id of the job in a row.
    public func jobID(_ result: borrowing PGResult, _ row: Int) -> Int64 { result.int64(row, 0) }

    /// Whether a row is a slice of a long body. Slices follow after all jobs.
    public func isSlice(_ result: borrowing PGResult, _ row: Int) -> Bool { result.isNull(row, 1) }

    /// The long bodies by job.
    public func longBodies(_ result: borrowing PGResult) -> [Int64: [UInt8]] {
        var first = result.rowCount
        while first > 0, isSlice(result, first - 1) { first -= 1 }
        var sizes: [Int64: Int] = [:]
        for row in first..<result.rowCount { sizes[jobID(result, row), default: 0] += result.byteCount(row, 6) }
        var bodies: [Int64: [UInt8]] = [:]
        for row in first..<result.rowCount {
            let job = jobID(result, row)
            if bodies[job] == nil {
                bodies[job] = []
                bodies[job]?.reserveCapacity(sizes[job] ?? 0)
            }
            result.append(row, 6, to: &bodies[job, default: []])
        }
        return bodies
    }

    /// The job with its call. `StoreStatement.prepare` names the columns.
    ///
    /// - Parameter body: the body if it came in slices.
    public func complete(
        _ job: ClaimedJob, _ result: borrowing PGResult, _ row: Int, longBody body: [UInt8]? = nil
    ) -> ClaimedJob {
        var job = job
        job.okStatuses = CallReader.okStatuses(result, row, 10)
        job.checksXML = result.bool(row, 28)
        job.isJudged = result.bool(row, 29)
        job.hasHooks = result.bool(row, 30)
        if result.bool(row, 32) { job.followUp.insert(.page) }
        if !result.isNull(row, 33) {
            job.server = ServerChoice(id: result.int32(row, 33), hasNext: result.bool(row, 34))
        }
        job.credential = CredentialReader.use(result, row, from: 35)
        let expensive = result.isNull(row, 41) ? [] : result.texts(row, 41)
        if expensive.count == 3 {
            job.expensive = ExpensiveJudgement(
                columns: expensive[0], lane: expensive[1], judgesFailures: expensive[2] == "f")
            job.isCached = expensive[2] == "c"
        }
        var call = calls.call(result, row, from: 1, for: job, keyHeader: result.optionalText(row, 11))
        if let body, case .bytes(_, let type) = call.body { call.body = .bytes(body, contentType: type) }
        call.compressesBody = result.bool(row, 12)
        if !result.isNull(row, 13) { call.limits.connect = .milliseconds(Int64(result.int32(row, 13))) }
        if !result.isNull(row, 14) { call.limits.firstByte = .milliseconds(Int64(result.int32(row, 14))) }
        if result.bool(row, 15) { call.allowsPrivateNetwork = true }
        call.transport = transport(result, row)
        call.keepsCookies = result.bool(row, 22)
        if call.keepsCookies { call.cookies = result.texts(row, 23) }
        if !result.isNull(row, 24) { call.body = .parts(parts(result, row)) }
        if !result.isNull(row, 26) {
            call.download = Download(
                path: result.text(row, 26), sha256: result.isNull(row, 27) ? nil : result.bytes(row, 27),
                okStatuses: job.okStatuses, maxBytes: result.optionalInt64(row, 9))
            // The job's max_response limits the file. The answer itself has the standard limit.
            call.limits.maxResponseBytes = CallLimits.standard.maxResponseBytes
        }
        if !result.isNull(row, 42) {
            // max_redirects, plus 16 if the database stores the body as received.
            let options = result.int32(row, 42)
            call.limits.maxRedirects = Int(options & 15)
            call.decodesBody = options & 16 == 0
        }
        // Transfers of files have no time limit. They end as `slow` when they stall.
        if call.body.hasFiles || call.download != nil, result.isNull(row, 8) {
            call.limits.total = CallLimits.unlimited
        }
        if let time = result.optionalInt64(row, 31) {
            job.webhook = WebhookStamp(id: calls.key(of: job), time: time)
            // Redirects are not followed: if a receiver has moved, the user must change its URL.
            call.limits.maxRedirects = 0
            call.privateNetworkSwitch = .none
        }
        job.call = call
        return job
    }

    private func transport(_ result: borrowing PGResult, _ row: Int) -> Transport? {
        guard (16...21).contains(where: { !result.isNull(row, $0) }) else { return nil }
        return Transport(
            proxy: result.optionalText(row, 16), interface: result.optionalText(row, 17),
            caFile: result.optionalText(row, 18), certificateFile: result.optionalText(row, 19),
            keyFile: result.optionalText(row, 20), pins: result.texts(row, 21))
    }

    /// Each part has five texts and one array of bytes. The texts are name, kind, filename, type and largest size. An
    /// omitted text is empty.
    private func parts(_ result: borrowing PGResult, _ row: Int) -> [BodyPart] {
        let texts = result.texts(row, 24)
        let bodies = result.byteArrays(row, 25)
        return bodies.indices.compactMap { index in
            guard texts.count >= index * 5 + 5 else { return nil }
            let fields = texts[index * 5..<index * 5 + 5].map { $0.isEmpty ? nil : $0 }
            let isFile = fields[1] == "file"
            return BodyPart(
                name: fields[0] ?? "",
                content: isFile ? .file(path: String(decoding: bodies[index], as: UTF8.self)) : .bytes(bodies[index]),
                filename: fields[2], type: fields[3], maxBytes: fields[4].flatMap(Int64.init))
        }
    }
}
