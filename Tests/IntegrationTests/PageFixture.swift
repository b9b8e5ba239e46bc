// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Jobs with pages for tests: a database, the small API, and a short text for what became of a job.
struct PageFixture: ~Copyable {
    private static let api = Result { try SmallAPIServer() }
    let url: String
    let queue: TestQueue

    /// On the API that all tests share, with a database of its own.
    init() throws {
        let url = try Self.api.get().url
        let queue = try TestQueue()
        self.url = url
        self.queue = queue
    }

    /// Inserts a job for a path of the API; its id.
    func insert(_ path: String, _ paginate: String, _ columns: String = "", _ values: String = "") throws
        -> Int64
    {
        try queue.insert(
            "url, paginate" + (columns.isEmpty ? "" : ", " + columns),
            "'\(url)\(path)', '\(paginate)'" + (values.isEmpty ? "" : ", " + values))
    }

    /// State, error_code, the ids of the result's items, as a range; then number and items of each page: `succeeded
    /// 1..15 1:10 2:5`.
    func look(_ id: Int64) throws -> String {
        try queue.text(
            """
            select concat_ws(' ', s.state, s.error_code,
                     (select case when count(*) = 0 then null
                                  when array_agg(i.n order by i.place)
                                    = array(select generate_series(min(i.n), max(i.n)))
                                  then min(i.n) || '..' || max(i.n) else 'disorder' end
                        from (select (e.value ->> 'id')::int as n, e.place
                                from jsonb_array_elements(case when s.body is null
                                                          then s.result end) with ordinality as e(value, place)) i),
                     (select string_agg(p.page || ':' || p.item_count, ' ' order by p.page) from postrider.pages p
                      where p.job_id = s.id))
              from postrider.job_status s where s.id = \(id)
            """) ?? ""
    }

    /// Runs a job alone to its end, and looks at it.
    func run(_ path: String, _ paginate: String, _ columns: String = "", _ values: String = "") throws -> String {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try insert(path, paginate, columns, values)
        try queue.waitUntilDone()
        return try look(id)
    }
}
