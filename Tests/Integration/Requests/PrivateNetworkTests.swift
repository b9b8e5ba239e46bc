// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Private addresses, with a worker that was started without `--allow-private`.
struct PrivateNetworkTests {
    @Test func `the error of a refused private address names the setting that can allow the call`() throws {
        let queue = try TestQueue()
        let api = try TokenAPI()
        let url = "http://127.0.0.1:1"
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id)
            values ('robot', 'oauth2_client_credentials', '\(url)/token', 'app');
            select postrider.log_in('robot', '{"client_secret": "s"}');
            insert into postrider.services (name, base_url, credential) values ('robots', 'https://example.org',
                'robot');
            """)
        try api.folder.write("webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let worker = try WorkerProcess.start([
            "run", "--database", TestRole.worker.database(queue.database), "--secret-key-file", api.folder.path("key"),
            "--webhook-secret-file", api.folder.path("webhooks"),
        ])
        defer { _ = WorkerProcess.end(worker, signal: SIGKILL) }
        let job = try queue.insert("url, callback_url", "'\(url)/job', '\(url)/hook'")
        try queue.insert("service, url", "'robots', '/x'")
        func wait(_ query: String, for words: String) throws {
            try TestClock.wait(20, for: "\(words) in \(query)") { try queue.text(query)?.contains(words) == true }
        }
        try wait(
            "select error from postrider.job_status where id = \(job)", for: "allow_private_network of its service, or")
        try wait(
            "select error from postrider.job_status where tag = 'webhook'",
            for: "start the worker with --allow-private")
        try wait(
            "select last_error from postrider.credential_status where name = 'robot'",
            for: "set allow_private_network of the credential, or")
    }
}
