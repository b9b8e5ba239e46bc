// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A wrong operation is refused when it is written, with its column and place.
struct BadOperationTests {
    @Test(arguments: [
        (#"{"id": "numbr"}"#, #"{"url": "a/{{arg.id}}"}"#, "arguments: id names"),
        (#"{"i d": "number"}"#, #"{"url": "a"}"#, "arguments: \"i d\""), ("[]", #"{"url": "a"}"#, "arguments: must be"),
        (#"{"id": "number", "id?": "number"}"#, #"{"url": "a"}"#, "arguments: id is"),
        (#"{"s": {"enum": []}}"#, #"{"url": "a"}"#, "arguments: s: "),
        (#"{"s": {"enum": [1]}}"#, #"{"url": "a"}"#, "arguments: s: "),
        ("{}", #"{"url": "a/{{arg.id}}"}"#, "spec: url: {{arg.id}}"),
        (#"{"id": "object"}"#, #"{"url": "a/{{arg.id.x}}"}"#, "spec: url: {{arg.id.x}}"),
        (#"{"id": "string"}"#, #"{"url": "https://{{arg.id}}/x"}"#, "spec: url: takes"),
        (#"{"id": "string"}"#, #"{"url": "//{{arg.id}}/x"}"#, "spec: url: takes"),
        (#"{"id": "string"}"#, #"{"url": "a", "credential": "{{arg.id}}"}"#, "spec: credential: "),
        (#"{"id": "string"}"#, #"{"url": "a", "download_to": "x/{{arg.id}}"}"#, "spec: download_to: "),
        (#"{"id": "string"}"#, #"{"url": "a", "extract": "$.{{arg.id}}"}"#, "spec: extract: "),
        ("{}", #"{"url": "a", "headers": {"Authorization": "Bearer x"}}"#, "spec: headers.Authorization: "),
        ("{}", #"{"url": "https://user:word@h/"}"#, "spec: url: "), ("{}", #"{"url": "a?api_key=1"}"#, "spec: url: "),
        ("{}", #"{"url": "a", "body_json": {"a": [{"password": "x"}]}}"#, "spec: body_json.a.0.password: "),
        ("{}", #"{"url": "a", "body_parts": [{"name": "token", "content": "x"}]}"#, "spec: body_parts.0: "),
        ("{}", #"{"url": "a", "nope": 1}"#, "spec: $.nope: "),
        ("{}", #"{"url": "a", "priority": 1000}"#, "spec: $.priority: "),
        ("{}", #"{"url": "a", "run_at": "now"}"#, "spec: run_at: "), ("{}", #"{"method": "GET"}"#, "spec: $.url: "),
        ("{}", #"{"chain": []}"#, "spec: $.chain: "), ("{}", "[]", "spec: must be"),
        ("{}", #"{"chain": [{"operation": "none"}]}"#, "spec: $.chain[0].operation: "),
        ("{}", #"{"chain": [{"operation": "user", "arguments": {}}]}"#, "spec: $.chain[0].arguments: "),
        ("{}", #"{"chain": [{"operation": "bad"}]}"#, "spec: bad → bad: "),
    ])
    func `a wrong operation is refused`(arguments: String, spec: String, place: String) throws {
        let queue = try OperationTests.queue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                insert into postrider.operations (name, service, arguments, spec)
                values ('bad', 'accounts', '\(arguments)', '\(spec)')
                """)
        }
        #expect(error?.sqlState?.rawValue == "PR001")
        #expect(error?.message.hasPrefix("operations.\(place)") == true, "\(error?.message ?? "")")
        #expect(error?.hint?.isEmpty == false)
    }

    @Test(arguments: [
        ("overridable", "'{validator}'"), ("service", "'none'"), ("name", "''"), ("name", "repeat('x', 201)"),
        ("arguments", "null"), ("spec", "null"), ("overridable", "null"),
    ])
    func `other columns are checked too`(column: String, value: String) throws {
        let queue = try OperationTests.queue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                update postrider.operations set \(column) = \(value) where name = 'mail'
                """)
        }
        #expect(error?.message.hasPrefix("operations.\(column): ") == true, "\(error?.message ?? "")")
    }
}
