// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A range of ids is added while the overflow is large. No INSERT waits until the overflow is read.
final class OverflowTests {
    private let queue: TestQueue
    private let leader: String

    /// 40,000 ids lie in the overflow, because no range takes them.
    init() throws {
        queue = try TestQueue()
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        leader = "\(worker), \(try queue.lead(worker))"
        try queue.overflow(from: 3_000_001)
        _ = try queue.number("select setval('postrider.jobs_id_seq', 3040000)")
    }

    private func extend() throws -> String? { try queue.text("select postrider_internal.extend_partitions(\(leader))") }

    private func prune() throws -> String? {
        try queue.text("select wait_ms::text from postrider_internal.prune(\(leader))")
    }

    private func bound() throws -> String? {
        try queue.text(
            "select bound || case when is_proven then ' proven' else '' end from postrider_internal.overflow_bound()")
    }

    private func insert() throws -> String? {
        let id = try queue.insert("url", "'http://h/'")
        return try queue.text("select tableoid::regclass::text || ' ' || id from postrider.jobs where id = \(id)")
    }

    @Test func `a range proven free of overflow rows is attached without a scan, and ids jump there`() throws {
        #expect(try extend() == nil)
        #expect(try bound() == nil)
        #expect(try prune() == "0")
        #expect(try bound() == "103040000")
        #expect(try insert() == "postrider_internal.jobs_overflow 3040001")
        #expect(try extend() == nil)
        for _ in ["results", "jobs"] { #expect(try prune() == "0") }
        #expect(try bound() == "103040000 proven")
        #expect(try insert() == "postrider_internal.jobs_overflow 3040002")
        let scans = "select sum(seq_scan)::bigint from pg_stat_xact_user_tables where relname like '%overflow'"
        try queue.connection.execute("begin")
        let before = try queue.number(scans)
        #expect(try extend() == "jobs_3 from 103040000 to 104039999")
        #expect(try queue.number(scans) == before)
        try queue.connection.execute("commit")
        #expect(try bound() == nil)
        #expect(try insert() == "postrider_internal.jobs_overflow 3040003")
        #expect(try extend() == nil)
        #expect(try insert() == "postrider_internal.jobs_3 103040000")
        #expect(try extend() == nil)
        #expect(try insert() == "postrider_internal.jobs_3 103040001")
        // The next range is added in the same way. Ids jump to it when this range is nearly used up.
        for _ in 1...3 { #expect(try prune() == "0") }
        #expect(try extend() == "jobs_4 from 203040001 to 204040000")
        #expect(try insert() == "postrider_internal.jobs_3 103040002")
        _ = try queue.number("select setval('postrider.jobs_id_seq', 103939999)")
        #expect(try extend() == nil)
        #expect(try insert() == "postrider_internal.jobs_3 103940000")
        #expect(try extend() == nil)
        #expect(try insert() == "postrider_internal.jobs_4 203040001")
    }

    @Test func `the overflow bound is dropped long before ids reach the bound`() throws {
        #expect(try prune() == "0")
        #expect(try bound() == "103040000")
        for isProven in [false, true] {
            _ = try queue.number("select setval('postrider.jobs_id_seq', \(isProven ? 103_200_000 : 53_100_000))")
            #expect(try extend() == nil)
            #expect(try bound() == nil)
            #expect(try insert()?.hasPrefix("postrider_internal.jobs_overflow") == true)
            for _ in 1...3 { #expect(try prune() == "0") }
        }
    }

    @Test func `if the overflow is small, the next range begins right after the last id`() throws {
        try queue.connection.execute("truncate postrider_internal.results_overflow")
        _ = try prune()
        #expect(try bound() == nil)
        #expect(try extend() == "jobs_3 from 3040001 to 4040000")
        #expect(try insert() == "postrider_internal.jobs_3 3040001")
    }

    @Test func `after all partitions are dropped, extend_partitions adds a new range`() throws {
        try queue.connection.execute(
            "drop table postrider_internal.jobs_1, postrider_internal.jobs_2, postrider_internal.results_1, postrider_internal.results_2"
        )
        #expect(try extend() == nil)
        for _ in 1...3 { #expect(try prune() == "0") }
        #expect(try extend() == "jobs_1 from 103040000 to 104039999")
        #expect(try extend() == nil)
        #expect(try insert() == "postrider_internal.jobs_1 103040000")
    }
}
