// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Glibc

@testable import JobModel
@testable import JobStore
@testable import PGClient

/// The rows that a worker reads, with values in binary form.
///
/// For each column the input has a byte. 0 is NULL. Up to 199 it is one more than the number of the bytes that follow.
/// From 200 on an array of so many texts follows, each behind its length.
enum RowTarget {
    private enum Width { case free, bytes(Int) }

    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        let tracesAll = reader.flag()
        let calls = CallReader(
            prefixes: KeyPrefixes(installation: "i"), idempotencyHeader: "Idempotency-Key", allowsPrivateNetwork: false,
            traces: tracesAll ? .always : .carried)
        let claimed = row(ClaimColumn.allCases.map { width($0) }, &reader)
        let job = ClaimReader(calls: calls).job(claimed, 0)
        try expect(job.lease.attempt == claimed.int32(0, ClaimColumn.attempt), "another attempt")
        let prepared = row(PrepareColumn.allCases.map { width($0) }, &reader)
        let prepare = PrepareReader(calls: calls)
        _ = prepare.longBodies(prepared)
        let complete = prepare.complete(job, prepared, 0)
        try expect(complete.call != nil, "a prepared job has no call")
        if let use = complete.credential, var call = complete.call {
            var secrets = Secrets()
            secrets["access_token"] = "token"
            _ = call.logIn(with: use, secrets)
        }
        let task = row(CredentialTaskColumn.allCases.map { width($0) }, &reader)
        _ = CredentialReader.task(task, 0)
        let arrays = row([.free, .free, .free, .free], &reader)
        let counts = [
            arrays.int64s(0, 0).count, arrays.int32s(0, 1).count, arrays.texts(0, 2).count,
            arrays.byteArrays(0, 3).count,
        ]
        for (column, count) in counts.enumerated() {
            try expect(count <= arrays.byteCount(0, column), "more elements than bytes")
        }
        for column in 0..<4 { _ = (arrays.uuid(0, column), arrays.jsonb(0, column), arrays.text(0, column)) }
    }

    private static func width(_ column: ClaimColumn) -> Width {
        switch column {
        case .track, .attempt, .timeoutMs: .bytes(4)
        case .seq, .fence, .jobID, .maxResponse, .largeBody: .bytes(8)
        case .rekey: .bytes(2)
        case .atMostOnce, .isRich, .isMember, .hasCallbacks: .bytes(1)
        case .waited: .bytes(16)
        case .method, .url, .query, .headers, .bodyKind, .body, .form, .okStatuses: .free
        }
    }

    private static func width(_ column: PrepareColumn) -> Width {
        switch column {
        case .timeoutMs, .connectMs, .firstByteMs, .server, .answerOptions: .bytes(4)
        case .jobID, .maxResponse, .webhookTime, .credentialVersion: .bytes(8)
        case .gzip, .privateNetwork, .keepsCookies, .checksXML, .isJudged, .hasHooks, .hasPages, .goesOn: .bytes(1)
        default: .free
        }
    }

    private static func width(_ column: CredentialTaskColumn) -> Width {
        switch column {
        case .version, .epoch: .bytes(8)
        case .privateNetwork: .bytes(1)
        default: .free
        }
    }

    /// A result with one row.
    private static func row(_ widths: [Width], _ reader: inout InputReader) -> PGResult {
        guard let result = unsafe PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK) else { fatalError("no memory") }
        unsafe "c".withCString { name in
            var columns = unsafe widths.map { _ in
                unsafe PGresAttDesc(
                    name: UnsafeMutablePointer(mutating: name), tableid: 0, columnid: 0, format: 1, typid: 0,
                    typlen: -1,
                    atttypmod: -1)
            }
            _ = unsafe PQsetResultAttrs(result, Int32(columns.count), &columns)
        }
        for (column, width) in widths.enumerated() {
            let value = value(width, &reader)
            let count = Int32(value?.count ?? -1)
            var bytes = (value ?? []).map { CChar(bitPattern: $0) }
            bytes.append(0)
            _ = unsafe PQsetvalue(result, 0, Int32(column), &bytes, count)
        }
        return unsafe PGResult(owning: result)
    }

    private static func value(_ width: Width, _ reader: inout InputReader) -> [UInt8]? {
        let size = Int(reader.byte())
        guard size > 0 else { return nil }
        if case .bytes(let count) = width { return (0..<count).map { _ in reader.byte() } }
        guard size >= 200 else { return (1..<size).map { _ in reader.byte() } }
        let count = size - 200
        var array = word(1) + word(0) + word(25) + word(count) + word(1)
        for _ in 0..<count {
            let text = (0..<Int(reader.byte())).map { _ in reader.byte() }
            array += word(text.count) + text
        }
        return array
    }

    private static func word(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
