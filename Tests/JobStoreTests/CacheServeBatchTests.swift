// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Many jobs in one call of `cache_serve`. The findings about one job must not reach another job.
struct CacheServeBatchTests {
    /// A job's demands on a cached answer `{"n": PLACE}`, which also has filling, and its expected end.
    enum Kind: String, CaseIterable {
        case plain, judged, refused, miss, large, largeJudged, broken

        var columns: (String, String) {
            switch self {
            case .plain, .miss, .large: ("cache_version", "0")
            case .judged, .largeJudged: ("extract", "'$.n'")
            case .refused: ("validator", "'{\"n\": \"string\"}'")
            case .broken: ("response_format", "'json'")
            }
        }

        func expected(_ place: Int) -> [String?] {
            switch self {
            case .plain, .large: ["succeeded", "hit", nil, nil, "latin1"]
            case .judged, .largeJudged: ["succeeded", "hit", nil, "\(place)", "utf-8"]
            // An answer that does not fit is a miss too.
            case .refused, .broken, .miss: ["running", nil, nil, nil, nil]
            }
        }

        var isCalled: Bool { [.refused, .broken, .miss].contains(self) }
    }

    private static let orders: [[Kind]] = [
        [.plain, .judged, .refused, .miss, .large, .largeJudged, .broken],
        [.refused, .plain, .judged, .broken, .plain, .judged],
        [.miss, .broken, .miss, .judged, .plain, .miss, .refused, .judged],
        [.largeJudged, .plain, .large, .refused, .judged], [.plain, .plain, .refused], [.plain, .large, .miss, .plain],
        [.judged, .refused],
    ]

    @Test(arguments: orders)
    func `jobs served from the cache together each keep their own result, charset and error`(kinds: [Kind]) throws {
        let fixture = try CacheFixture()
        var jobs: [Int64] = []
        for (place, kind) in kinds.enumerated() {
            let filling = [.large, .largeJudged].contains(kind) ? 70_000 : 0
            let body = kind == .broken ? "{" : "{\"n\": \(place), \"x\": \"\(String(repeating: "x", count: filling))\"}"
            if kind != .miss {
                try fixture.queue.connection.execute(
                    "select postrider.cache_put('{\"url\": \"http://h/\(place)\"}', '\(body)'::text)")
            }
            jobs.append(try fixture.insert(kind.columns.0, kind.columns.1, url: "http://h/\(place)"))
        }
        // Marks the stored entry, so that the test can distinguish its values from the findings of judge_answer.
        try fixture.queue.connection.execute(
            "update postrider.cache_entries set encoding = 'latin1', headers = convert_to('content-type: text/plain' || chr(10), 'UTF8')"
        )
        let missed = zip(jobs, kinds).filter { $0.1.isCalled }.map(\.0)
        #expect(try fixture.take() == missed)
        for (place, kind) in kinds.enumerated() {
            let row = try fixture.queue.rows(
                """
                select s.state, r.cache, r.error_code, r.result::text, r.encoding from postrider.job_status s
                left join postrider_internal.results r on r.job_id = s.id where s.id = \(jobs[place])
                """)
            #expect(row == [kind.expected(place)], "place \(place), \(kind)")
            if kind.isCalled { continue }
            #expect(
                try fixture.queue.number(
                    """
                    select count(*) from postrider_internal.results r join postrider.cache_entries e on e.body = r.body
                      and e.headers = r.headers
                    where r.job_id = \(jobs[place]) and e.url = 'http://h/\(place)'
                    """) == 1, "place \(place), \(kind)")
        }
    }
}
