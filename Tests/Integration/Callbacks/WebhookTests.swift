// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// callback_url, with a receiver that verifies webhooks with the public package.
struct WebhookTests {
    private let target: TargetServer
    private let old = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private let new = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
    private let other = "whsec_BBECAwQFBgcICQoLDA0ODxAREhMUFRYX"

    init() throws {
        target = try TargetServer()
    }

    /// Starts a worker with its secrets in a file.
    private func worker(_ queue: borrowing TestQueue, _ secrets: [String], _ folder: borrowing TestFolder) throws
        -> RunningWorker
    {
        let file = folder.path("secrets")
        try folder.write("secrets", secrets.joined(separator: " "))
        return try RunningWorker(queue.database, ["--webhook-secret-file", file])
    }

    @Test func `a job's end sends a webhook to its callback_url, signed with each secret`() throws {
        let receiver = try WebhookReceiver(secrets: [old, new, other])
        let queue = try TestQueue()
        let folder = try TestFolder()
        let worker = try worker(queue, [old, new], folder)
        defer { worker.kill() }
        let good = try queue.insert(
            "url, callback_url, tag, metadata",
            "'\(target.url)/ok', '\(receiver.url)/status/200', 'order', '{\"n\": 7}'")
        let bad = try queue.insert("url, callback_url", "'\(target.url)/status/404', '\(receiver.url)/status/200'")
        try TestClock.wait(20, for: "two webhooks") { receiver.lines.count >= 2 }
        try queue.waitUntilDone()
        let lines = Dictionary(
            uniqueKeysWithValues: receiver.lines.map { ($0.contains("\"id\": \(good)") ? good : bad, $0) })
        for (id, state, status, rest) in [
            (
                good, "succeeded", 200,
                "\"result\": {}, \"state\": \"succeeded\", \"status_code\": 200, \"tag\": \"order\"}"
            ),
            (bad, "failed", 404, "\"tag\": null}"),
        ] {
            let line = try #require(lines[id])
            #expect(line.hasPrefix("/status/200 yyn "), "\(line)")
            #expect(line.contains("\"type\": \"job.\(state)\""), "\(line)")
            #expect(line.contains("\"status_code\": \(status)"), "\(line)")
            #expect(line.contains(rest), "\(line)")
        }
        #expect(lines[good]?.contains("\"metadata\": {\"n\": 7}") == true)
        #expect(lines[bad]?.contains("\"error_code\": \"http_status\"") == true)
        let jobs = try queue.rows(
            "select s.state, s.method, (j.created_by = current_user)::text from postrider.job_status s join postrider.jobs j using (id) where s.tag = 'webhook'"
        )
        #expect(jobs == [["succeeded", "POST", "true"], ["succeeded", "POST", "true"]])
        #expect(!worker.output.contains("whsec_"))
    }

    @Test func `a failed webhook is retried with the same id, but 410 and redirects are final`() throws {
        let receiver = try WebhookReceiver(secrets: [old])
        let queue = try TestQueue()
        let folder = try TestFolder()
        let worker = try worker(queue, [old], folder)
        defer { worker.kill() }
        for path in ["/status/503,200", "/status/410", "/moved"] {
            try queue.insert("url, callback_url", "'\(target.url)/ok', '\(receiver.url)\(path)'")
        }
        try queue.wait(
            30,
            until:
                "select count(*) = 3 from postrider_internal.results r join postrider_internal.webhooks w using (job_id)"
        )
        let ends = try queue.rows(
            "select substr(url, \(receiver.url.count + 1)), state, error_code, attempt::text from postrider.job_status where tag = 'webhook' order by 1"
        )
        #expect(
            ends == [
                ["/moved", "failed", "http_status", "1"], ["/status/410", "failed", "http_status", "1"],
                ["/status/503,200", "succeeded", nil, "2"],
            ])
        let lines = receiver.lines
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.split(separator: " ")[1] == "y" }, "\(lines)")
        let ids = lines.filter { $0.hasPrefix("/status/503") }.map { $0.split(separator: " ")[2] }
        #expect(ids.count == 2 && ids[0] == ids[1])
    }

    @Test func `a webhook without a body fails with internal and makes no call`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try queue.connection.execute(
            """
            create function public.empty() returns trigger language plpgsql as $$
            begin
              new.body_json := null;
              return new;
            end $$;
            create trigger empty before insert on postrider.jobs for each row when (new.tag = 'webhook')
              execute function public.empty()
            """)
        let worker = try worker(queue, [old], folder)
        defer { worker.kill() }
        let told = try queue.insert("url, callback_url", "'\(target.url)/ok', '\(target.url)/ok/told'")
        try queue.wait(for: told, toBe: "succeeded")
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select state, error_code from postrider.job_status where tag = 'webhook'")
                == [["failed", "internal"]])
        #expect(target.requests("/ok/told").isEmpty)
    }

    @Test func `a job with the tag webhook gets no signature, and webhooks without a secret fail`() throws {
        let receiver = try WebhookReceiver(secrets: [old])
        let queue = try TestQueue()
        let folder = try TestFolder()
        let signing = try worker(queue, [old], folder)
        // The tag alone leads to no signature.
        let forged = try queue.insert(
            "method, url, body_json, tag",
            "'POST', '\(receiver.url)/status/200', '{\"type\": \"job.succeeded\"}', 'webhook'")
        try queue.wait(for: forged, toBe: "succeeded")
        #expect(receiver.lines.first?.hasPrefix("/status/200 n - ") == true)
        #expect(signing.end(SIGTERM) == 0)
        let bare = try RunningWorker(queue.database)
        defer { bare.kill() }
        try queue.insert("url, callback_url", "'\(target.url)/ok', '\(receiver.url)/status/200'")
        try queue.wait(
            until: "select count(*) = 1 from postrider.job_status where tag = 'webhook' and error_code = 'config'")
        #expect(receiver.lines.count == 1)
        #expect(
            try queue.text("select error from postrider.job_status where error_code = 'config'")?
                .contains("POSTRIDER_WEBHOOK_SECRET") == true)
    }

    @Test func `a bad callback_url is refused`() throws {
        let queue = try TestQueue()
        for url in ["ftp://h/", "/relative", "", "http://h/a b", "http:///x"] {
            do throws(PGError) {
                try queue.connection.execute(
                    "insert into postrider.jobs (url, callback_url) values ('http://h/', '\(url)')")
                Issue.record("\(url) was accepted")
            } catch {
                #expect(error.message.hasPrefix("jobs.callback_url: "), "\(error.message)")
            }
        }
    }
}
