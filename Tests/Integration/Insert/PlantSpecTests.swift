// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rows that `submit` makes of good specs, with their places and values.
struct PlantSpecTests {
    /// A root and the jobs below it as `path kind name url`. A path lists the positions from the root.
    private func rows(_ queue: borrowing TestQueue, _ root: Int64) throws -> [String] {
        try queue.rows(
            """
            with recursive tree as (
              select j.*, '$' as path from postrider.jobs j where id = \(root)
              union all select j.*, t.path || '.' || j.position from postrider.jobs j join tree t on j.parent_id = t.id)
            select path || ' ' || kind || coalesce(' ' || name, '') || coalesce(' ' || url, '')
            from tree order by string_to_array(substr(path, 3), '.')::int[], path
            """
        ).compactMap(\.[0])
    }

    private func submit(_ queue: borrowing TestQueue, _ spec: String) throws -> Int64 {
        try queue.number("select postrider.submit('\(spec)')")
    }

    @Test(arguments: [
        (#"{"url": "http://h/{{a}}"}"#, ["$ request http://h/{{a}}"]),
        (
            #"{"chain": [{"url": "http://h/1"}, {"url": "http://h/2"}]}"#,
            ["$ chain", "$.1 request http://h/1", "$.2 request http://h/2"]
        ),
        (
            #"{"name": "all", "batch": [{"name": "b", "url": "http://h/b"}, {"chain": [{"url": "http://h/c"}]}]}"#,
            ["$ batch all", "$.1 request b http://h/b", "$.2 chain", "$.2.1 request http://h/c"]
        ),
        (
            #"{"chain": [{"batch": [{"chain": [{"url": "http://h/1"}]}, {"url": "http://h/2"}]}, {"batch": [{"url": "http://h/3"}]}]}"#,
            [
                "$ chain", "$.1 batch", "$.2 batch", "$.1.1 chain", "$.1.2 request http://h/2",
                "$.2.1 request http://h/3",
                "$.1.1.1 request http://h/1",
            ]
        ),
        (
            #"{"chain": [{"name": "a", "url": "http://h/"}, {"batch": [{"url": "http://h/{{a.body.id}}"}]}, {"url": "http://h/{{prev.results}}", "run_if": "$.a.status == 200"}]}"#,
            [
                "$ chain", "$.1 request a http://h/", "$.2 batch", "$.3 request http://h/{{prev.results}}",
                "$.2.1 request http://h/{{a.body.id}}",
            ]
        ),
        (#"{"kind": "request", "url": "http://h/"}"#, ["$ request http://h/"]),
        (
            #"{"kind": "chain", "chain": [{"kind": "batch", "batch": [{"kind": null, "url": "http://h/1"}]}, {"kind": "batch", "batch": {"each": [1], "do": {"kind": "request", "url": "http://h/2"}}}]}"#,
            ["$ chain", "$.1 batch", "$.2 batch", "$.1.1 request http://h/1"]
        ),
        // The jobs below the second and third step do not depend on the list of the first step.
        (
            #"{"chain": [{"batch": {"each": [1], "do": {"url": "http://h/1"}}}, {"chain": [{"chain": [{"url": "http://h/2"}]}, {"batch": {"each": [1], "do": {"url": "http://h/3"}}}]}, {"chain": [{"chain": [{"url": "http://h/4"}]}]}]}"#,
            [
                "$ chain", "$.1 batch", "$.1.1 request http://h/1", "$.2 chain", "$.2.1 chain",
                "$.2.1.1 request http://h/2", "$.2.2 batch",
                "$.3 chain", "$.3.1 chain", "$.3.1.1 request http://h/4",
            ]
        ),
    ])
    func `submit turns each shape of spec into rows with parents and positions`(spec: String, expected: [String]) throws
    {
        let queue = try TestQueue()
        let found = try rows(queue, submit(queue, spec))
        #expect(found.sorted() == expected.sorted())
    }

    @Test func `keys next to chain or batch set columns of the chain's or batch's row`() throws {
        let queue = try TestQueue()
        let root = try submit(
            queue,
            #"{"tag": "t", "priority": 4, "chain": [{"mode": "settle", "max_parallel": 2, "metadata": {"a": null}, "batch": [{"url": "http://h/", "body": "\u00e4"}]}]}"#
        )
        #expect(
            try queue.text("select tag || priority || kind || mode from postrider.jobs where id = \(root)")
                == "t4chainall")
        #expect(
            try queue.text(
                "select concat_ws(' ', mode, max_parallel, metadata, priority) from postrider.jobs where parent_id = \(root)"
            )
                == #"settle 2 {"a": null} 4"#)
        #expect(try queue.text("select encode(body, 'hex') from postrider.jobs where url is not null") == "c3a4")
    }

    @Test func `a null in a spec equals a left out key for each column`() throws {
        let queue = try TestQueue()
        let columns = try queue.rows(
            """
            select a.attname::text, a.atttypid::regtype::text, pg_get_expr(d.adbin, d.adrelid) from pg_attribute a
            left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
              and a.attname not in ('id', 'kind', 'each', 'created_at', 'created_by', 'operation_revision',
                                    'operation_rules')
            """)
        #expect(columns.count > 35)
        for mate in [#"{"url": "http://h/"}"#, #"{"url": "http://h/", "priority": 4, "tag": "x"}"#] {
            let nulls = columns.compactMap(\.[0]).filter {
                !["url", "parent_id", "position", "mode", "max_parallel"].contains($0)
            }
            .map { "\"\($0)\": null" }.joined(separator: ", ")
            let root = try submit(
                queue, #"{"batch": [{"url": "http://h/"}, {"url": "http://h/", \#(nulls)}, \#(mate)]}"#)
            let different = try queue.number(
                """
                select count(distinct to_jsonb(j) - '{id,position}'::text[]) from postrider.jobs j
                where parent_id = \(root) and position < 3
                """)
            #expect(different == 1)
        }
    }

    @Test func `a body_json of null in a spec means no JSON body`() throws {
        let queue = try TestQueue()
        let id = try submit(queue, #"{"url": "http://h/", "method": "POST", "body": "x", "body_json": null}"#)
        #expect(try queue.text("select convert_from(body, 'UTF8') from postrider.jobs where id = \(id)") == "x")
    }

    @Test func `submit reads body and body_json correctly with quote_all_identifiers on`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("set quote_all_identifiers = on")
        let text = try submit(queue, #"{"url": "http://h/", "method": "POST", "body": "a\\b"}"#)
        let json = try submit(queue, #"{"url": "http://h/", "method": "POST", "body_json": "abc"}"#)
        #expect(
            try queue.rows("select convert_from(body, 'UTF8'), body_json::text from postrider.jobs order by id")
                == [[#"a\b"#, nil], [nil, #""abc""#]])
        #expect(json == text + 1)
    }

    @Test func `submit adds steps and batches to a chain that has not ended`() throws {
        let queue = try TestQueue()
        let root = try submit(queue, #"{"chain": [{"name": "a", "url": "http://h/a"}]}"#)
        let step = try submit(
            queue, #"{"parent_id": \#(root), "url": "http://h/{{a.body}}", "run_if": "$.a.status == 200"}"#)
        let batch = try submit(queue, #"{"parent_id": \#(root), "batch": [{"url": "http://h/{{a.body}}"}]}"#)
        #expect(
            try queue.rows(
                "select job_id::text, position::text from postrider_internal.members where parent_id = \(root) order by 2"
            ).dropFirst()
                .map { $0 } == [[String(step), "2"], [String(batch), "3"]])
    }

    @Test func `submit inserts 10,000 members in order`() throws {
        let queue = try TestQueue()
        let spec =
            #"{"batch": ["#
            + (1...10_000).map { #"{"url": "http://h/\#($0)", "name": "n\#($0)"}"# }.joined(separator: ",") + "]}"
        let root = try submit(queue, spec)
        #expect(
            try queue.number(
                """
                select count(*) from (
                  select url, name, position, row_number() over (order by id) as nth from postrider.jobs
                    where parent_id = \(root)) j
                where url = 'http://h/' || nth and name = 'n' || nth and position = nth
                """) == 10_000)
    }

    @Test func `an each makes one member per element, with the creator of the batch`() throws {
        let queue = try TestQueue()
        let root = try submit(
            queue,
            #"{"batch": {"each": ["a", {"b": 1}, null], "do": {"kind": "chain", "chain": [{"name": "x", "url": "http://h/"}, {"batch": [{"url": "http://h/1"}, {"url": "http://h/2"}]}]}}}"#
        )
        #expect(
            try queue.rows(
                "select position::text, item::text from postrider_internal.members where parent_id = \(root) order by position"
            )
                == [["1", #""a""#], ["2", #"{"b": 1}"#], ["3", "null"]])
        #expect(
            try queue.text("select string_agg(distinct created_by, ',') from postrider.jobs")
                == queue.text("select created_by from postrider.jobs where id = \(root)"))
        let found = try rows(queue, root)
        let below = (1...3).flatMap {
            [
                "$.\($0) chain", "$.\($0).1 request x http://h/", "$.\($0).2 batch", "$.\($0).2.1 request http://h/1",
                "$.\($0).2.2 request http://h/2",
            ]
        }
        #expect(found.sorted() == (["$ batch"] + below).sorted())
    }

    @Test(arguments: [
        (#"a\u00e4\\"#, "61c3a45c"), (#"\\x4142"#, "4142"), (#"\\x00fF"#, "00ff"), (#"\\x"#, ""), (#"\\x4"#, "5c7834"),
        (#"\\x41 "#, "5c78343120"), ("", ""),
    ])
    func `the body in a spec may be text or bytes in hex notation`(body: String, hex: String) throws {
        let queue = try TestQueue()
        let id = try queue.number(
            #"select postrider.submit('{"url": "http://h/", "method": "POST", "body": "\#(body)"}')"#)
        #expect(try queue.text("select encode(body, 'hex') from postrider.jobs where id = \(id)") == hex)
    }
}
