// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The expressions that the claiming session may evaluate.
struct CheapExpressionTests {
    static let cheap = [
        "$", "$.a", "$.a.b.c", "$.a[*].b", "$.*", "strict $.a.*", "$.a[0].b[1]", "$.a[last]", "$.a[last - 1].b",
        "$.a.size()",
        "$.a.type()", "-$.a", "$.a + 1", "$.a == 1", "!($.a == 1)", "exists($.a.b)", "($.a == 1) is unknown",
        #"$.a starts with "x""#, #"$."x*?/,% to [$""#, #"$."like_regex""#, "$.a <> -1", #"$.a == "$x""#,
        "$.a == 1 && $.b == 2",
        "$.a[*] == 3",
    ]

    /// The first paths take hours over 30,000 numbers. For each of the others, some answer makes it slow.
    static let expensive = [
        "$[*] ? (exists($[*] ? (exists($[*] ? (@ == 3)))))", "$.a ? (@.b > 1)", "$.**", "$.a.**.b", "$.a[*].b[*]",
        "$.*.b[*]",
        "$.a.keyvalue()", "$.a == $.b", "$.a < ($.b)", "$.a <> -$.b", "1 == $.a", "$[0,0]", "$[0,0][0,0][0,0]",
        "$.a[0 to 2].b",
        "$[$.b]", #"$.a like_regex "(a+)+b""#, #"$.a.datetime("HH")"#, "$.a * $.b", "$.a / $.b", "$.a % 7",
        "$.a" + String(repeating: ".a", count: 300),
        Array(repeating: "$.a == 1", count: 17).joined(separator: " || "),
    ]

    @Test func `jsonpath_is_cheap accepts only paths whose time grows linearly with the answer`() throws {
        let queue = try TestQueue()
        for (paths, isCheap) in [(Self.cheap, true), (Self.expensive, false)] {
            for path in paths {
                #expect(
                    try queue.text("select postrider_internal.jsonpath_is_cheap($p$\(path)$p$)::text") == "\(isCheap)",
                    "\(path)"
                )
            }
        }
    }

    /// Lists, nested lists, objects and long numbers. The path could match each of their values.
    @Test func `each cheap path takes less than 2 seconds over large answers`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create temp table answers as
            select jsonb_agg(1) as answer from generate_series(1, 30000) union all
            select jsonb_build_object('a', jsonb_agg(jsonb_build_object('b', i)), 'b', jsonb_agg(i))
              from generate_series(1, 30000) i union all
            select jsonb_build_object('a', repeat('9', 100000)::numeric, 'b', repeat('7', 100000)::numeric) union all
            select jsonb_agg(jsonb_build_array(jsonb_build_array(i, i, i), i)) from generate_series(1, 30000) i;
            set statement_timeout = '2s'
            """)
        for path in Self.cheap {
            try queue.connection.execute(
                "select count(jsonb_path_query_array(answer, $p$\(path)$p$, '{}', true)) from answers")
        }
    }

    @Test(arguments: [
        (#"{"name": "string", "tags": ["string"], "home": {"city": "string"}}"#, true), (#"["any"]"#, true),
        (#"[[[[[["string"]]]]]]"#, true), (#"[[[[[[["string"]]]]]]]"#, false),
        ("{" + (1...60).map { #""k\#($0)": "any""# }.joined(separator: ", ") + "}", true),
        ("{" + (1...90).map { #""k\#($0)": "any""# }.joined(separator: ", ") + "}", false),
    ])
    func `a validator is cheap if it is short and has few levels`(validator: String, isCheap: Bool) throws {
        let queue = try TestQueue()
        #expect(try queue.text("select postrider_internal.validator_is_cheap('\(validator)')::text") == "\(isCheap)")
    }

    @Test func `the deepest and widest cheap validators take less than 4 seconds over large answers`() throws {
        let queue = try TestQueue()
        let wide = "[{" + (1...60).map { #""k\#($0)": "number""# }.joined(separator: ", ") + "}]"
        try queue.connection.execute(
            """
            set statement_timeout = '4s';
            do $$ begin
              perform postrider_internal.validator_mismatch('[[[[[["string"]]]]]]',
                jsonb_build_array(jsonb_build_array(jsonb_build_array(jsonb_build_array(jsonb_build_array(
                  (select jsonb_agg('x'::text) || '[1]' from generate_series(1, 30000))))))));
              perform postrider_internal.validator_mismatch('\(wide)',
                (select jsonb_agg((select jsonb_object_agg('k' || n, n) from generate_series(1, 60) n)) from generate_series(1, 3000)) || '[{"k1": "x"}]');
            end $$
            """)
    }

    @Test(arguments: [
        (#"{"code": "$.code", "message": "$.msg", "result": "$.data.result"}"#, true),
        (#"{"code": "$.code", "result": "$.data[*]"}"#, true), (#"{"code": "$.code[0]"}"#, true),
        (#"{"code": "$.code ? (@ > 1)"}"#, false), (#"{"code": "$.code", "message": "$.**.msg"}"#, false),
        (#"{"code": "$.code", "result": "$[0,0]"}"#, false),
    ])
    func `an envelope is cheap if all of its paths are`(envelope: String, isCheap: Bool) throws {
        let queue = try TestQueue()
        #expect(try queue.text("select postrider_internal.envelope_is_cheap('\(envelope)')::text") == "\(isCheap)")
    }
}
