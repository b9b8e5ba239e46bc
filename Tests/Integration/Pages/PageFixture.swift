// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Paginated jobs for tests: a database, the small API, and a short text for a job's outcome.
struct PageFixture: ~Copyable {
    private static let api = Result { try SmallAPIServer() }
    let url: String
    let queue: TestQueue

    /// Uses the API that all tests share, and makes a database.
    init() throws {
        let url = try Self.api.get().url
        let queue = try TestQueue()
        self.url = url
        self.queue = queue
    }

    /// Inserts a job for a path of the API and returns its id.
    func insert(_ path: String, _ paginate: String, _ columns: String = "", _ values: String = "") throws
        -> Int64
    {
        try queue.insert(
            "url, paginate" + (columns.isEmpty ? "" : ", " + columns),
            "'\(url)\(path)', '\(paginate)'" + (values.isEmpty ? "" : ", " + values))
    }

    /// The job's state, error_code, and the range of the ids in its result, then the number and items of each page.
    ///
    /// For example: `succeeded 1..15 1:10 2:5`.
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

    /// Runs a job alone to its end, and returns its `look`.
    func run(_ path: String, _ paginate: String, _ columns: String = "", _ values: String = "") throws -> String {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try insert(path, paginate, columns, values)
        try queue.waitUntilDone()
        return try look(id)
    }
}
