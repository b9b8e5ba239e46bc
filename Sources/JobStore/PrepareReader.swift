// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Completes claimed jobs with the rows of `postrider_internal.prepare`.
public struct PrepareReader: Sendable {
    private typealias Column = PrepareColumn

    private let calls: CallReader

    /// A reader with the fleet's settings.
    public init(calls: CallReader) {
        self.calls = calls
    }

    /// The id of the job in a row.
    public func jobID(_ result: borrowing PGResult, _ row: Int) -> Int64 { result.int64(row, Column.jobID) }

    /// Whether a row is a slice of a long body. Slices follow after all jobs.
    public func isSlice(_ result: borrowing PGResult, _ row: Int) -> Bool { result.isNull(row, Column.method) }

    /// The long bodies by job.
    public func longBodies(_ result: borrowing PGResult) -> [Int64: [UInt8]] {
        var first = result.rowCount
        while first > 0, isSlice(result, first - 1) { first -= 1 }
        var sizes: [Int64: Int] = [:]
        for row in first..<result.rowCount {
            sizes[jobID(result, row), default: 0] += result.byteCount(row, Column.body)
        }
        var bodies: [Int64: [UInt8]] = [:]
        for row in first..<result.rowCount {
            let job = jobID(result, row)
            if bodies[job] == nil {
                bodies[job] = []
                bodies[job]?.reserveCapacity(sizes[job] ?? 0)
            }
            result.append(row, Column.body, to: &bodies[job, default: []])
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
        job.service = result.optionalText(row, Column.service)
        job.okStatuses = CallReader.okStatuses(result, row, Column.okStatuses)
        job.checksXML = result.bool(row, Column.checksXML)
        job.isJudged = result.bool(row, Column.isJudged)
        job.hasHooks = result.bool(row, Column.hasHooks)
        if result.bool(row, Column.hasPages) { job.followUp.insert(.page) }
        if !result.isNull(row, Column.server) {
            job.server = ServerChoice(id: result.int32(row, Column.server), hasNext: result.bool(row, Column.goesOn))
        }
        job.credential = CredentialReader.use(result, row)
        let expensive = result.isNull(row, Column.expensive) ? [] : result.texts(row, Column.expensive)
        if expensive.count == 3 {
            job.expensive = ExpensiveJudgement(
                columns: expensive[0], lane: expensive[1], judgesFailures: expensive[2] == "f")
            job.isCached = expensive[2] == "c"
        }
        var call = calls.call(
            result, row, Column.self, for: job, keyHeader: result.optionalText(row, Column.idempotencyHeader))
        if let body, case .bytes(_, let type) = call.body { call.body = .bytes(body, contentType: type) }
        call.compressesBody = result.bool(row, Column.gzip)
        if !result.isNull(row, Column.connectMs) {
            call.limits.connect = .milliseconds(Int64(result.int32(row, Column.connectMs)))
        }
        if !result.isNull(row, Column.firstByteMs) {
            call.limits.firstByte = .milliseconds(Int64(result.int32(row, Column.firstByteMs)))
        }
        if result.bool(row, Column.privateNetwork) { call.allowsPrivateNetwork = true }
        call.transport = transport(result, row)
        call.keepsCookies = result.bool(row, Column.keepsCookies)
        if call.keepsCookies { call.cookies = result.texts(row, Column.cookies) }
        if !result.isNull(row, Column.parts) { call.body = .parts(parts(result, row)) }
        if !result.isNull(row, Column.downloadTo) {
            call.download = Download(
                path: result.text(row, Column.downloadTo),
                sha256: result.isNull(row, Column.sha256) ? nil : result.bytes(row, Column.sha256),
                okStatuses: job.okStatuses, maxBytes: result.optionalInt64(row, Column.maxResponse))
            // The job's max_response limits the file. The answer itself has the standard limit.
            call.limits.maxResponseBytes = CallLimits.standard.maxResponseBytes
        }
        if !result.isNull(row, Column.answerOptions) {
            // max_redirects, plus 16 if the database stores the body as received, plus 32 if it has answer rules.
            let options = result.int32(row, Column.answerOptions)
            call.limits.maxRedirects = Int(options & 15)
            call.decodesBody = options & 16 == 0
            job.hasRules = options & 32 != 0
        }
        // Transfers of files have no time limit. They end as `slow` when they stall.
        if call.body.hasFiles || call.download != nil, result.isNull(row, Column.timeoutMs) {
            call.limits.total = CallLimits.unlimited
        }
        if let time = result.optionalInt64(row, Column.webhookTime) {
            job.webhook = WebhookStamp(id: calls.key(of: job), time: time)
            // Redirects are not followed: if a receiver has moved, the user must change its URL.
            call.limits.maxRedirects = 0
            call.privateNetworkSwitch = .none
        }
        if !result.isNull(row, Column.stub) { call.stub = stub(result.texts(row, Column.stub)) }
        if !result.isNull(row, Column.trace) {
            job.trace = calls.trace(&call, of: job, TraceTexts(CallReader.pairs(result.texts(row, Column.trace))))
        }
        job.call = call
        return job
    }

    private func transport(_ result: borrowing PGResult, _ row: Int) -> Transport? {
        guard Column.ofTransport.contains(where: { !result.isNull(row, $0) }) else { return nil }
        return Transport(
            proxy: result.optionalText(row, Column.proxy), interface: result.optionalText(row, Column.interface),
            caFile: result.optionalText(row, Column.ca), certificateFile: result.optionalText(row, Column.certificate),
            keyFile: result.optionalText(row, Column.key), pins: result.texts(row, Column.pins))
    }

    /// Status, delay in milliseconds, body, then name and value of each header.
    private func stub(_ texts: [String]) -> StubAnswer {
        StubAnswer(
            status: texts.first.flatMap { Int($0) } ?? 200,
            headers: CallReader.pairs(Array(texts.dropFirst(3))).map { HTTPHeader($0.0, $0.1) },
            body: texts.count > 2 ? Array(texts[2].utf8) : [],
            delay: .milliseconds(texts.count > 1 ? Int64(texts[1]) ?? 0 : 0))
    }

    /// Each part has five texts and one array of bytes. The texts are name, kind, filename, type and largest size. An
    /// omitted text is empty.
    private func parts(_ result: borrowing PGResult, _ row: Int) -> [BodyPart] {
        let texts = result.texts(row, Column.parts)
        let bodies = result.byteArrays(row, Column.partBodies)
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
