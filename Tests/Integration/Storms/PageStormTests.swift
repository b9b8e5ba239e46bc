// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Random paginated jobs while workers are killed, sessions are cut, and a thread cancels, retries and reschedules.
struct PageStormTests {
    @Test(arguments: Soak.stormSeeds)
    func `random page lists stay complete and ordered while workers die and users change jobs`(seed: UInt64) throws {
        let storm = try PageStorm(seed: seed, jobs: Soak.count(400, reduced: 60), kills: Soak.count(6, reduced: 2))
        try storm.run()
        let defects = try storm.defects()
        #expect(defects == [], "seed \(seed)")
    }
}

/// One round. Confined to one thread.
private final class PageStorm {
    private let queue: TestQueue
    private let target: TargetServer
    private let fleet: StormFleet
    private let seed: UInt64
    private let wanted: Int
    private var random: Randomness
    private var jobs: [PagedJob] = []
    private var touched: Set<Int64> = []
    private var found: [String] = []

    init(seed: UInt64, jobs: Int, kills: Int) throws {
        self.seed = seed
        wanted = jobs
        random = Randomness(seed: seed)
        queue = try TestQueue()
        fleet = StormFleet(queue.database, deaths: kills)
        target = try TargetServer(answer: PagedJob.answer)
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('narrow', 2)")
    }

    func run() throws {
        try fleet.start(&random)
        // Jobs without interference must match their list exactly. This holds for at least the first half.
        var other: Meddler?
        while jobs.count < wanted {
            var job = PagedJob(number: jobs.count, &random)
            job.id = try queue.insert(job.columns, job.values(target.url))
            jobs.append(job)
            if other == nil, jobs.count * 2 > wanted { other = Meddler(queue.database, seed: seed) }
            if random.chance(5) { try queue.cutWorkerSession(random.number(0...9999)) }
            try fleet.mayDie(made: jobs.count, of: wanted, &random)
            fleet.mayPause(&random)
        }
        if let other {
            try other.goOn(40)
            let end = other.stop()
            touched = Set(end.done.map(\.id))
            found = end.faults
        }
        try fleet.waitForEnd(queue, seed: seed, &random)
        try check(isLast: false)
        // A job that stopped in the middle continues there. Two retries are needed: a job that was cancelled before a
        // bad page now meets that page.
        for _ in 0..<2 {
            try queue.connection.execute(
                """
                select postrider.retry(s.id) from postrider.job_status s
                where s.state in ('failed', 'cancelled') and s.url not like '%/limit/%'
                """)
            try fleet.end(SIGKILL, &random)
            try fleet.waitForEnd(queue, seed: seed, &random)
        }
        try check(isLast: true)
    }

    func defects() throws -> [String] {
        let posts = jobs.filter { $0.isPost && !touched.contains($0.id) }
        let calls = Dictionary(grouping: target.requests) { $0.path.split(separator: "?")[0] }
        let keys = posts.flatMap { job in job.keyDefects(calls[job.path[...]] ?? []) }
        let unexplained = try queue.unexplainedPages(target)
        try queue.report(
            .pages, attack: "SIGKILL, cut sessions, failing pages; cancel, retry, reschedule",
            calls: target.requests.count, unexplained: unexplained.count, isPaged: true)
        return try found + keys + unexplained + fleet.faults(queue)
    }

    /// Checks that pages are complete from the first on, their items are in order, and the result holds all of them.
    private func check(isLast: Bool) throws {
        let rows = try queue.rows(
            """
            select s.id::text, s.state, s.error_code, s.result::text, coalesce(p.numbers, ''),
                   (select string_agg(i.item, ',' order by i.page, i.place)
                      from (select f.page, e.item, e.place from postrider_internal.fetched_pages f
                             cross join jsonb_array_elements_text(f.items) with ordinality e (item, place)
                               where f.job_id = s.id) i)
            from postrider.job_status s
            left join (select job_id, string_agg(page::text, ',' order by page) as numbers
                       from postrider_internal.fetched_pages group by 1) p
              on p.job_id = s.id
            """)
        let byID = Dictionary(uniqueKeysWithValues: rows.map { (Int64($0[0] ?? "") ?? 0, $0) })
        for job in jobs {
            guard let row = byID[job.id] else {
                found.append("job \(job.id) is missing")
                continue
            }
            if let defect = job.defect(
                state: row[1] ?? "", code: row[2], result: row[3], pages: row[4] ?? "", items: row[5],
                isTouched: touched.contains(job.id), isLast: isLast)
            {
                let who = "\(isLast ? "at last" : "at first") \(job)\(touched.contains(job.id) ? ", touched" : "")"
                found.append("\(who): \(defect); it is \(row.map { $0 ?? "null" })")
            }
        }
    }
}
