// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// APIs that refuse an expired token with a status other than 401.
struct ExpiredStatusTests {
    private let api: TokenAPI

    init() throws { api = try TokenAPI() }

    /// The state and error_code of a call. The server answers with this status until the call carries the second token.
    private func outcome(_ status: Int, _ expired: String) throws -> [String?] {
        let target = try TargetServer { request in
            if request.path == "/token" { return TargetStep.answer(200, #"{"token": "t2"}"#) }
            let isFresh = request.headers.contains {
                $0.name.lowercased() == "authorization" && $0.value == "Bearer t2"
            }
            return TargetStep.answer(isFresh ? 200 : status)
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, refresh, allow_private_network\(expired.isEmpty ? "" : ", expired_statuses"))
            values ('c', 'custom', '{"url": "\(target.url)/token", "access_token": "$.token"}', true\(expired));
            select postrider.log_in('c', '{"access_token": "t1"}')
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential", "'\(target.url)/data', 'c'")
        try queue.wait(until: "select finished_at is not null from postrider.job_status where id = \(id)")
        return try queue.rows("select state, error_code, attempt::text from postrider.job_status where id = \(id)")[0]
    }

    @Test(arguments: [404, 419]) func `a status in expired_statuses leads to a refresh`(status: Int) throws {
        #expect(try outcome(status, ", '{[400,402),[403,405),[419,420)}'") == ["succeeded", nil, "1"])
    }

    @Test func `only 401 leads to a refresh by default, and expired_statuses replaces it`() throws {
        #expect(try outcome(403, "") == ["failed", "http_status", "1"])
        #expect(try outcome(401, "") == ["succeeded", nil, "1"])
        #expect(try outcome(401, ", '{[403,404)}'") == ["failed", "http_status", "1"])
    }
}
