// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rules of a validator.
///
/// Named keys must exist, and null passes. Extra keys pass. An array's first template holds for all its elements, and
/// an empty array passes.
struct ValidatorTests {
    private static let person = #"{"name":"string","age":"number","tags":["string"],"home":{"city":"string"}}"#

    @Test(arguments: [
        (person, #"{"name":"ada","age":36,"tags":["a","b"],"home":{"city":"London"}}"#),
        (person, #"{"name":null,"age":null,"tags":null,"home":null}"#), (person, "null"),
        (person, #"{"name":"ada","age":1.5e3,"tags":[],"home":{"city":null,"street":1},"more":[{}]}"#),
        (person, #"{"name":"ada","age":1,"tags":["a",null],"home":{"city":"x"}}"#),
        (#"["number"]"#, "[]"), (#"["number"]"#, "[1,null,2]"), (#"["any"]"#, #"[1,"a",{},[],null,true]"#),
        (#"[{"id":"number"}]"#, #"[{"id":1},{"id":2,"x":[]},null]"#), (#"[["string"]]"#, #"[["a"],[],null]"#),
        (#"["string","number"]"#, #"["a","b"]"#), (#"{}"#, #"{"a":1}"#), (#"{"a":"any"}"#, #"{"a":null}"#),
        (#""object""#, "{}"), (#""array""#, "[1]"), (#""boolean""#, "false"), (#""any""#, "1"),
        (#"{"":"string","a.b":"number","ü \"":"any"}"#, #"{"":"x","a.b":1,"ü \"":2}"#),
    ])
    func `a value of the validator's shape fits`(template: String, value: String) throws {
        #expect(try mismatch(template, value) == nil)
        #expect(try fits(template, value))
    }

    @Test(arguments: [
        (person, #"{"age":1,"tags":[],"home":null}"#, "$.name is missing"),
        (person, #"{"name":"a","age":"36","tags":[],"home":{}}"#, "$.age should be a number and is a string"),
        (person, #"{"name":"a","age":1,"tags":["a",2],"home":null}"#, "$.tags[1] should be a string and is a number"),
        (person, #"{"name":"a","age":1,"tags":{},"home":null}"#, "$.tags should be an array and is an object"),
        (person, #"{"name":"a","age":1,"tags":[],"home":{"town":"x"}}"#, "$.home.city is missing"),
        (person, "[]", "$ should be an object and is an array"),
        (person, #""x""#, "$ should be an object and is a string"),
        (
            #"{"data":[{"age":"number"}]}"#, #"{"data":[{"age":1},{"age":"geheim"}]}"#,
            "$.data[1].age should be a number and is a string"
        ),
        (#"{"data":[{"age":"number"}]}"#, #"{"data":[{"age":1},{}]}"#, "$.data[1].age is missing"),
        (#"[["string"]]"#, #"[["a"],["b",true]]"#, "$[1][1] should be a string and is a boolean"),
        (#"["string","number"]"#, #"["a",1]"#, "$[1] should be a string and is a number"),
        (#"{"a":"any"}"#, "{}", "$.a is missing"),
        (#"{"a b":{"ü":"number"}}"#, #"{"a b":{"ü":[]}}"#, #"$."a b"."ü" should be a number and is an array"#),
        (#""boolean""#, "0", "$ should be a boolean and is a number"),
    ])
    func `a mismatch error names the path and both types, never the value`(
        template: String, value: String, sentence: String
    ) throws {
        #expect(try mismatch(template, value) == sentence)
        #expect(try !fits(template, value))
    }

    @Test(arguments: [
        ("[]", "$ is an empty array"), (#"{"a":[]}"#, "$.a is an empty array"),
        (#"{"a":"strng"}"#, #"$.a names the unknown type "strng""#),
        (#"{"a":[{"b":1}]}"#, "$.a[0].b is a number"), ("null", "$ is a null"), (#"["string",3]"#, "$[1] is a number"),
        (#"{"a b":null}"#, #"$."a b" is a null"#), (#""Number""#, #"$ names the unknown type "Number""#),
        ("true", "$ is a boolean"),
        (String(repeating: "[", count: 33) + #""any""# + String(repeating: "]", count: 33), "$[0][0]"),
        (String(repeating: #"{"a":"#, count: 3000) + "1" + String(repeating: "}", count: 3000), "$.a.a"),
        (#"{"a":"\#(String(repeating: "x", count: 70_000))"}"#, "is larger than 64 kB"),
    ])
    func `an invalid validator is refused with the path and a hint`(template: String, words: String) throws {
        let row = try Self.database().query(
            "select d.reason, d.hint from postrider_internal.validator_defect(\(literal(template))) d")
        #expect(row.optionalText(0, 0)?.hasPrefix(words) == true, "\(row.optionalText(0, 0) ?? "good")")
        #expect(row.optionalText(0, 1)?.isEmpty == false)
    }

    @Test func `validator_mismatch and validator_path agree for many shapes and values`() throws {
        let connection = try Self.database()
        // Shapes and values come from the same small set, so about a third of them fit.
        let row = try connection.query(
            """
            with shapes as (
              select array_agg(u) as all_shapes from unnest(array['"string"', '"number"', '"any"', '"object"', '"array"', '["string"]',
                '[{"a":"number"}]', '{"a":"string"}', '{"a":["number"]}', '{"a":{"b":"boolean"}}', '{"a":[{"b":"any"}]}',
                '[["number"]]', '{"a":"any","b":"number"}']::jsonb[]) u),
            members as (
              select array_agg(u) as all_values from unnest(array['null', '1', '"x"', 'true', '[]', '{}', '[1,"x"]', '[null]', '["x"]',
                '{"a":1}', '[{"a":1},{"a":null}]', '[{"a":"x"}]', '{"a":"x"}', '{"a":[1]}', '{"a":{"b":true}}',
                '{"a":{"b":[]}}', '{"a":[{"b":0}]}', '{"a":[{}]}', '[[1],[2,null]]', '[[1],["x"]]', '[[],1]',
                '{"a":null,"b":2}', '{"b":2}']::jsonb[]) u)
            select count(*), count(*) filter (where postrider_internal.validator_mismatch(t, v) is null),
                   count(*) filter (where (postrider_internal.validator_mismatch(t, v) is null)
                     <> jsonb_path_exists(v, format('strict $ ? %s', postrider_internal.validator_path(t))::jsonpath))
              from shapes, unnest(all_shapes) t, members, unnest(all_values) v
            """)
        #expect(row.int64(0, 0) == 13 * 23)
        #expect(row.int64(0, 1) > 60)
        #expect(row.int64(0, 2) == 0)
    }

    @Test func `validator_mismatch handles deep and wide values`() throws {
        let connection = try Self.database()
        let deep = "(repeat('[', 3000) || repeat(']', 3000))::jsonb"
        #expect(
            try connection.query("select postrider_internal.validator_mismatch('[[\"string\"]]', \(deep))")
                .optionalText(0, 0)
                == "$[0][0] should be a string and is an array")
        let wide = "(select jsonb_agg(jsonb_build_object('id', i, 'name', 'x')) from generate_series(1, 200000) i)"
        let template = #"[{"id":"number","name":"string"}]"#
        #expect(
            try connection.query("select postrider_internal.validator_mismatch('\(template)', \(wide))").optionalText(
                0, 0)
                == nil)
        let last = "\(wide) || '[{\"id\":\"x\",\"name\":\"x\"}]'"
        #expect(
            try connection.query("select postrider_internal.validator_mismatch('\(template)', \(last))").optionalText(
                0, 0)
                == "$[200000].id should be a number and is a string")
    }

    private func mismatch(_ template: String, _ value: String) throws -> String? {
        try Self.database().query(
            "select postrider_internal.validator_mismatch(\(literal(template)), \(literal(value)))"
        )
        .optionalText(0, 0)
    }

    private func fits(_ template: String, _ value: String) throws -> Bool {
        try Self.database().query(
            """
            select jsonb_path_exists(\(literal(value)),
              format('strict $ ? %s', postrider_internal.validator_path(\(literal(template))))::jsonpath)
            """
        ).bool(0, 0)
    }

    private func literal(_ json: String) -> String { "$x$\(json)$x$::jsonb" }

    private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }
    private static func database() throws -> PGConnection { try PGConnection(made.get()) }
}
