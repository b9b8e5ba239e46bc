// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The functions that name conditions in the statements of `queue_new_jobs`.
struct InsertStepTests {
    private static let conditions = [
        "is_due_request(row(j.*)::postrider.jobs)",
        "is_like_first(row(j.*)::postrider.jobs, f, 'http://h/%')",
        "may_break_rules(row(j.*)::postrider.jobs, s, 65536)",
        "is_valid_with_operation(row(j.*)::postrider.jobs)",
        "is_valid_apart_from_request(row(j.*)::postrider.jobs)",
        "lane_destination(j.id, j.use_cdn, j.notify, j.decode, j.require_data)",
        "crowd_buckets(j.id::numeric)",
        "crowd_bucket(j.queue, j.lane, j.max_attempts)",
        "has_callbacks(row(j.*)::postrider.jobs)",
        "is_plain_job(row(j.*)::postrider.jobs)",
        "is_plain_url(j.url)",
        "is_plain_host(split_part(j.url, '/', 3))",
    ]

    @Test func `PostgreSQL inlines the conditions of an INSERT`() throws {
        let queue = try TestQueue()
        for condition in Self.conditions {
            let name = condition.prefix { $0 != "(" }
            let plan = try queue.plan(
                """
                select postrider_internal.\(condition)
                  from postrider.jobs j join postrider.jobs f on f.id = j.id
                  left join postrider.services s on s.name = j.service
                """)
            #expect(!plan.contains("\(name)("), "\(name)")
        }
        let limits = try queue.plan(
            """
            select d.column_name
              from (select array_agg(null::postrider_internal.client_jobs) as groups from postrider.jobs offset 0) a
             cross join lateral postrider_internal.find_client_defect(a.groups) d
            """)
        #expect(limits.contains("find_limit_defect") && !limits.contains("find_client_defect"))
        let tracks = try queue.plan(
            """
            select t.id from postrider.jobs j
              left join lateral postrider_internal.known_track(j.queue, j.lane, j.priority, j.use_cdn) t (id) on true
            """)
        #expect(tracks.contains("tracks_queue_lane_priority_key") && !tracks.contains("known_track"))
    }

    @Test func `an INSERT puts a lane into a bucket in which is_in_intake looks for it`() throws {
        let queue = try TestQueue()
        let missing = try queue.number(
            """
            select count(*)
              from generate_series(1, 1000) i cross join lateral (values (512 * i), (40000 * i), (9000000)) j (jobs)
             where postrider_internal.crowd_bucket('q' || i % 7, 'h' || i || ':80',
                                                   postrider_internal.crowd_buckets(j.jobs))
                   <> all (postrider_internal.intake_buckets('q' || i % 7, 'h' || i || ':80'))
            """)
        #expect(missing == 0)
        #expect(
            try queue.text(
                """
                select string_agg(postrider_internal.crowd_buckets(n)::text, ' ' order by n) from unnest(array[
                  1, 512, 513, 8192, 8193, 131072, 131073, 2097152, 2097153, 100000000]) n
                """) == "1 1 16 16 256 256 4096 4096 65536 65536")
    }

    @Test func `rows of a lane go to ready, to its list or to one of several lanes`() throws {
        let queue = try TestQueue()
        // Rows of the lane, behind a list of the lane, behind one of several lanes, large INSERT, many lanes.
        for (arguments, destination) in [
            ("999, false, false, false, false", "ready"),
            ("1000, false, false, false, true", "ready"),
            ("1000, false, false, true, false", "list"),
            ("999, false, false, true, false", "crowd"),
            ("999, false, false, false, true", "crowd"),
            ("999, true, false, true, true", "list"),
            ("999, false, true, false, false", "list"),
            ("999, false, true, true, false", "crowd"),
            ("1000, false, true, false, true", "list"),
        ] {
            #expect(
                try queue.text("select postrider_internal.lane_destination(\(arguments))") == destination,
                "\(arguments)")
        }
    }
}

extension TestQueue {
    fileprivate func plan(_ sql: String) throws -> String {
        try rows("explain (verbose, costs off) \(sql)").map { $0[0] ?? "" }.joined(separator: "\n")
    }
}
