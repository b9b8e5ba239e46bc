// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Chains whose steps use earlier answers, with a worker and real servers.
struct TemplateTests {
    /// Inserts a chain and its steps in one transaction. Each step is given as columns and values. Returns the ids,
    /// with the chain's first.
    private func insert(_ queue: borrowing TestQueue, _ steps: [(columns: String, values: String)]) throws -> [Int64] {
        try queue.connection.execute("begin")
        var ids = [try queue.insert("kind", "'chain'")]
        for step in steps {
            ids.append(try queue.insert("parent_id, " + step.columns, "\(ids[0]), " + step.values))
        }
        try queue.connection.execute("commit")
        return ids
    }

    @Test func `later steps fill templates and evaluate run_if from the answers of earlier steps`() throws {
        let api = try SmallAPIServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('accounts', '\(api.url)')")
        var chains: [[Int64]] = []
        for (round, state) in ["succeeded", "skipped"].enumerated() {
            try queue.connection.execute("begin")
            let root = try queue.insert("kind", "'chain'")
            let register = try queue.insert(
                "parent_id, name, service, method, url, body_json",
                #"\#(root), 'register', 'accounts', 'POST', '/register', '{"username": "ada"}'"#)
            let batch = try queue.insert("parent_id, kind, name", "\(root), 'batch', 'both'")
            let user = try queue.insert(
                "parent_id, name, service, url", "\(batch), 'user', 'accounts', '/users/{{register.body.data.id}}'")
            let avatar = try queue.insert(
                "parent_id, service, url", "\(batch), 'accounts', '/avatars/{{register.body.data.id}}'")
            let path = try queue.insert(
                "parent_id, service, url", "\(root), 'accounts', '{{both.user.body.data.avatar}}'")
            let welcome = try queue.insert(
                "parent_id, service, method, url, body_json, run_if",
                #"\#(root), 'accounts', 'POST', '/welcome', '{"id": "{{register.body.data.id}}"}', '$.register.body.data.fresh == true'"#
            )
            try queue.connection.execute("commit")
            chains.append([root, register, user, avatar, path, welcome])
            try queue.wait(for: root, toBe: "succeeded")
            #expect(try queue.state(welcome) == state, "round \(round)")
        }
        for ids in chains {
            #expect(
                try queue.rows(
                    "select url from postrider.job_status where id = any ('{\(ids[2]),\(ids[3]),\(ids[4])}') order by id"
                )
                    == [["/users/1"], ["/avatars/1"], ["/avatars/1"]])
            #expect(
                try queue.text("select result #>> '{data,username}' from postrider.job_status where id = \(ids[2])")
                    == "ada")
        }
        #expect(
            try queue.text("select result #>> '{data,greeting}' from postrider.job_status where id = \(chains[0][5])")
                == "Welcome, ada!")
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `run_if reads the results of the batch before the step`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, request.path == "/no" ? #"{"ok": false}"# : #"{"ok": true}"#)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for (path, state) in [
            ("$.prev[0].ok == true", "succeeded"), ("$.prev[1].ok == true", "skipped"),
            ("$.f.size() == 2", "succeeded"),
            ("exists($.f[*] ? (@.ok == false))", "succeeded"), ("exists($.f[*] ? (@.ok == null))", "skipped"),
        ] {
            let root = try queue.number(
                """
                select postrider.submit('{"chain": [
                  {"name": "f", "batch": [{"url": "\(target.url)/yes"}, {"url": "\(target.url)/no"}]},
                  {"name": "then", "url": "\(target.url)/then", "run_if": "\(path)"}]}')
                """)
            try queue.wait(for: root, toBe: "succeeded")
            #expect(
                try queue.text("select state from postrider.job_status where parent_id = \(root) and name = 'then'")
                    == state, "\(path)")
        }
    }

    @Test func `a template value arrives unchanged in URL, query, header, JSON, form and part`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let value = #"a/b?c=d&é€ + \"%2F\" {{{{x}}"#
        let plain = "a/b?c=d&é€ + \"%2F\" {{x}}"
        let url = httpbin.url + "/anything"
        let ids = try insert(
            queue,
            [
                (
                    "name, method, url, body_json",
                    #"'a', 'POST', '\#(url)', '{"s": "\#(value)", "n": 7, "l": [1, "x"], "t": true}'"#
                ),
                (
                    "name, url, query, headers",
                    #"'get', '\#(url)/{{a.body.json.s}}/{{a.body.json.n}}?u={{a.body.json.s}}', '{"q": "{{a.body.json.s}}", "l": "{{a.body.json.l}}"}', '{"X-N": "n={{a.body.json.n}}"}'"#
                ),
                (
                    "name, method, url, body_json",
                    #"'json', 'POST', '\#(url)', '{"all": "{{a.body.json}}", "text": "<{{a.body.json.n}}{{a.body.json.s}}>"}'"#
                ),
                (
                    "name, method, url, body_form",
                    #"'form', 'POST', '\#(url)', '{"s": "{{a.body.json.s}}", "l": "{{a.body.json.l}}"}'"#
                ),
                (
                    "name, method, url, body_parts",
                    #"'parts', 'POST', '\#(url)', '[{"name": "p", "content": "{{a.body.json.s}}"}]'"#
                ),
                ("name, url", #"'before', '\#(url)/{{prev.body.form.p}}'"#),
            ])
        try queue.wait(for: ids[0], toBe: "succeeded")
        func found(_ step: Int, _ path: String) throws -> String? {
            try queue.text("select result #>> '{\(path)}' from postrider.job_status where id = \(ids[step])")
        }
        #expect(try found(2, "args,u") == plain)
        #expect(try found(2, "args,q") == plain)
        #expect(try found(2, "args,l") == #"["1", "x"]"#)
        #expect(try found(2, "headers,X-N") == "n=7")
        #expect(try found(3, "json,all") == (try found(1, "json")))
        #expect(try found(3, "json,text") == "<7\(plain)>")
        #expect(try found(4, "form,s") == plain)
        #expect(try found(5, "form,p") == plain)
        let path = "/anything/a%2Fb%3Fc%3Dd%26%C3%A9%E2%82%AC%20%2B%20%22%252F%22%20%7B%7Bx%7D%7D"
        #expect(try queue.text("select url from postrider.job_status where id = \(ids[6])") == httpbin.url + path)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a missing or unusable template value fails the step before any call`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let url = httpbin.url + "/anything"
        let first = ("name, method, url, body_json", #"'a', 'POST', '\#(url)', '{"s": "x\r\nEvil: 1", "up": ".."}'"#)
        let cases = [
            ("url", "'\(url)/{{a.body.json.no}}'", "template"), ("url", "'\(url)/{{a.body.json.up}}/x'", "template"),
            ("url, headers", #"'\#(url)', '{"X": "{{a.body.json.s}}"}'"#, "bad_header"),
            ("url, run_if", "'\(url)', '$.nobody.status == 200'", "template"),
        ]
        for (columns, values, code) in cases {
            let ids = try insert(queue, [first, (columns, values), ("url", "'\(url)'")])
            try queue.wait(for: ids[0], toBe: "failed")
            #expect(
                try queue.text("select error_code from postrider.job_status where id = \(ids[2])") == code, "\(values)")
            #expect(try queue.number("select count(*) from postrider.attempts where job_id = \(ids[2])") == 0)
            #expect(try queue.state(ids[3]) == "skipped")
        }
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `the cache serves a templated call again only if its filled values are equal`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let url = httpbin.url + "/anything"
        var calls: [[String?]] = []
        for number in [1, 2, 1] {
            let ids = try insert(
                queue,
                [
                    ("name, method, url, body_json", #"'a', 'POST', '\#(url)', '{"n": \#(number)}'"#),
                    ("url, query, cache_ttl", #"'\#(url)/{{a.body.json.n}}', '{"q": "{{a.body.json.n}}"}', '1 hour'"#),
                ])
            try queue.wait(for: ids[0], toBe: "succeeded")
            calls += try queue.rows(
                "select result #>> '{args,q}', from_cache::text from postrider.job_status where id = \(ids[2])")
        }
        #expect(calls == [["1", "false"], ["2", "false"], ["1", "true"]])
        #expect(worker.end(SIGTERM) == 0)
    }
}
