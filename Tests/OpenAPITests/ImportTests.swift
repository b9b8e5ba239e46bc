// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenAPI

/// The arguments and specs of operations, one case for each form of parameter, body and answer.
struct ImportTests {
    /// An API with one operation, whose YAML is given below its method. The test also gives its components.
    static func api(
        _ operation: String, path: String = "/a", method: String = "get", components: String = ""
    ) throws -> ImportedAPI {
        func indent(_ text: String, _ count: Int) -> String {
            text.split(separator: "\n").map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
        }
        let yaml = """
            openapi: 3.0.3
            servers: [{url: https://h.example/v1}]
            paths:
              '\(path)':
                \(method):
            \(indent("operationId: x\n" + operation, 6))
            components:
            \(indent(components.isEmpty ? "{}" : components, 2))
            """
        return try ImportedAPI(Array(yaml.utf8), service: "s")
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var yaml: String
        var path = "/a"
        var arguments = "{}"
        /// The spec without method.
        var spec: String
        var remarks: [String] = []
        var testDescription: String { yaml }
    }

    static let parameters = [
        Case(yaml: "", spec: #"{"url": "a"}"#),
        Case(
            yaml: "parameters: [{name: id, in: path, required: true, schema: {type: integer}}]", path: "/u/{id}/x",
            arguments: #"{"id": "number"}"#, spec: #"{"url": "u/{{arg.id}}/x"}"#),
        Case(
            yaml: "parameters: [{name: id, in: path, required: true, schema: {type: string}}]", path: "/{id}",
            arguments: #"{"id": "string"}"#, spec: #"{"url": "./{{arg.id}}"}"#),
        Case(
            yaml: "parameters: [{name: id, in: path, required: true, schema: {type: string}}]", path: "/{id}:stop",
            arguments: #"{"id": "string"}"#, spec: #"{"url": "./{{arg.id}}:stop"}"#),
        Case(yaml: "", path: "/", spec: #"{"url": "./"}"#),
        Case(yaml: "", path: "/a b/ü", spec: #"{"url": "a%20b/%C3%BC"}"#),
        Case(
            yaml: "", path: "/u/{user-id}", arguments: #"{"user_id": "string"}"#,
            spec: #"{"url": "u/{{arg.user_id}}"}"#,
            remarks: ["note /paths/~1u~1{user-id}/get: user-id: is in the path but not in parameters, so it is a text"]),
        Case(
            yaml:
                "parameters: [{name: q, in: query, schema: {type: string}}, {name: n, in: query, required: true, schema: {type: number}}]",
            arguments: #"{"q?": "string", "n": "number"}"#,
            spec: #"{"url": "a", "query": {"q": "{{arg.q}}", "n": "{{arg.n}}"}}"#),
        Case(
            yaml: "parameters: [{name: state, in: query, schema: {type: string, enum: [open, closed]}}]",
            arguments: #"{"state?": {"enum": ["open", "closed"]}}"#,
            spec: #"{"url": "a", "query": {"state": "{{arg.state}}"}}"#),
        Case(
            yaml: "parameters: [{name: n, in: query, schema: {type: integer, enum: [1, 2]}}]",
            arguments: #"{"n?": "number"}"#, spec: #"{"url": "a", "query": {"n": "{{arg.n}}"}}"#),
        Case(
            yaml:
                "parameters: [{name: 'filter[a-b]', in: query, schema: {type: string}}, {name: 2x, in: query, schema: {type: boolean}}]",
            arguments: #"{"filter_a_b_?": "string", "_2x?": "boolean"}"#,
            spec: #"{"url": "a", "query": {"filter[a-b]": "{{arg.filter_a_b_}}", "2x": "{{arg._2x}}"}}"#),
        Case(
            yaml:
                "parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: id, in: query, schema: {type: string}}]",
            path: "/u/{id}", arguments: #"{"id": "string", "id_2?": "string"}"#,
            spec: #"{"url": "u/{{arg.id}}", "query": {"id": "{{arg.id_2}}"}}"#),
        Case(
            yaml: "parameters: [{name: ids, in: query, schema: {type: array, items: {type: integer}}}]",
            arguments: #"{"ids?": ["number"]}"#, spec: #"{"url": "a", "query": {"ids": "{{arg.ids}}"}}"#),
        Case(
            yaml: "parameters: [{name: ids, in: query, explode: false, schema: {type: array, items: {type: integer}}}]",
            arguments: #"{"ids?": "string"}"#, spec: #"{"url": "a", "query": {"ids": "{{arg.ids}}"}}"#,
            remarks: ["note /paths/~1a/get/parameters/0: ids: is one text, with , between the elements"]),
        Case(
            yaml: "parameters: [{name: f, in: query, style: deepObject, schema: {type: object}}]",
            spec: #"{"url": "a"}"#,
            remarks: ["part /paths/~1a/get/parameters/0: f: is an object in the style deepObject"]),
        Case(
            yaml: "parameters: [{name: sid, in: cookie, schema: {type: string}}]", spec: #"{"url": "a"}"#,
            remarks: ["part /paths/~1a/get/parameters/0: sid: is a cookie"]),
        Case(
            yaml: "parameters: [{name: v, in: query, content: {application/json: {schema: {type: object}}}}]",
            spec: #"{"url": "a"}"#, remarks: ["part /paths/~1a/get/parameters/0: v: is written in a format of its own"]),
        Case(
            yaml: "parameters: [{name: v, in: query, schema: {$ref: 'other.yaml#/X'}}]", spec: #"{"url": "a"}"#,
            remarks: ["part /paths/~1a/get/parameters/0: v: has a schema that refers to another file"]),
        Case(
            yaml:
                "parameters: [{name: X-Trace, in: header, schema: {type: string}}, {name: Authorization, in: header, required: true, schema: {type: string}}, {name: Host, in: header, required: true, schema: {type: string}}]",
            arguments: #"{"X_Trace?": "string"}"#, spec: #"{"url": "a", "headers": {"X-Trace": "{{arg.X_Trace}}"}}"#,
            remarks: [
                "part /paths/~1a/get/parameters/1: Authorization: OpenAPI ignores a parameter of this name",
                "part /paths/~1a/get/parameters/2: Host: the worker sets this header itself",
            ]),
        Case(
            yaml: "parameters: [{name: v, in: query, schema: {oneOf: [{type: integer}, {type: string}]}}]",
            arguments: #"{"v?": "any"}"#, spec: #"{"url": "a", "query": {"v": "{{arg.v}}"}}"#),
        Case(
            yaml:
                "parameters: [{name: v, in: query, schema: {anyOf: [{type: string, enum: [a]}, {type: string, enum: [b]}]}}]",
            arguments: #"{"v?": {"enum": ["a", "b"]}}"#, spec: #"{"url": "a", "query": {"v": "{{arg.v}}"}}"#),
        Case(
            yaml: "parameters: [{name: v, in: query, schema: {type: [integer, 'null']}}]",
            arguments: #"{"v?": "number"}"#, spec: #"{"url": "a", "query": {"v": "{{arg.v}}"}}"#),
    ]

    static let answers = [
        Case(
            yaml:
                "responses: {200: {content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: integer}, name: {type: string}}}}}}}",
            spec: #"{"url": "a", "response_format": "json", "validator": {"id": "number"}}"#),
        Case(
            yaml:
                "responses: {200: {content: {application/json: {schema: {type: array, items: {type: object, required: [id], properties: {id: {type: string}}}}}}}}",
            spec: #"{"url": "a", "response_format": "json", "validator": [{"id": "string"}]}"#),
        Case(
            yaml:
                "responses: {204: {description: none}, 200: {content: {application/json: {schema: {type: object, required: [id, p], properties: {p: {type: string, writeOnly: true}}}}}}}",
            spec: #"{"url": "a", "response_format": "json", "validator": {"id": "any"}}"#),
        Case(
            yaml:
                "responses: {200: {content: {application/json: {schema: {type: object, required: [id, a]}}}}, 201: {content: {application/json: {schema: {type: object, required: [id, b]}}}}}",
            spec: #"{"url": "a", "response_format": "json", "validator": {"id": "any"}}"#),
        Case(
            yaml:
                "responses: {200: {content: {application/json: {schema: {type: object}}}}, 202: {description: no body}}",
            spec: #"{"url": "a"}"#),
        Case(
            yaml: "responses: {200: {content: {text/csv: {}, application/json: {}}}}",
            spec: #"{"url": "a", "headers": {"Accept": "application/json"}, "response_format": "json"}"#),
        Case(yaml: "responses: {200: {content: {text/csv: {}}}}", spec: #"{"url": "a"}"#),
        Case(
            yaml: "responses: {2XX: {content: {application/hal+json: {schema: {type: string}}}}, default: {}}",
            spec: #"{"url": "a", "response_format": "json", "validator": "string"}"#),
    ]

    @Test(arguments: parameters + answers)
    func `parameters become arguments, and answers become checks`(expected: Case) throws {
        let api = try ImportTests.api(expected.yaml, path: expected.path)
        let operation = try #require(api.operations.first)
        #expect(operation.name == "s.x")
        #expect(operation.arguments.text == expected.arguments)
        #expect(
            sorted(operation.spec.text)
                == sorted(expected.spec.replacing("{\"url\"", with: "{\"method\": \"GET\", \"url\"")))
        #expect(api.remarks.map { "\($0.kind) \($0.place): \($0.reason)" } == expected.remarks)
    }

    static let bodies = [
        Case(
            yaml:
                "requestBody: {required: true, content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}, age: {type: integer}, id: {type: string, readOnly: true}}}}}}",
            arguments: #"{"name": "string", "age?": "number"}"#,
            spec: #"{"url": "a", "body_json": {"name": "{{arg.name}}", "age": "{{arg.age}}"}}"#),
        Case(
            yaml:
                "requestBody: {content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}}}}}}",
            arguments: #"{"name": "string"}"#, spec: #"{"url": "a", "body_json": {"name": "{{arg.name}}"}}"#),
        Case(
            yaml: "requestBody: {content: {application/json: {}}}", arguments: #"{"body?": "any"}"#,
            spec: #"{"url": "a", "body_json": "{{arg.body}}"}"#),
        Case(
            yaml:
                "requestBody: {content: {multipart/form-data: {schema: {type: object, required: [b], properties: {a: {type: string}, b: {type: array}}}}}}",
            spec: #"{"url": "a"}"#,
            remarks: ["part /paths/~1a/post/requestBody: body: has the property b, which is a list in a multipart body"]
        ),
        Case(
            yaml:
                "requestBody: {required: true, content: {application/json: {schema: {type: array, items: {type: string}}}}}",
            arguments: #"{"body": ["string"]}"#, spec: #"{"url": "a", "body_json": "{{arg.body}}"}"#),
        Case(
            yaml: "requestBody: {required: true, content: {application/merge-patch+json: {schema: {type: object}}}}",
            arguments: #"{"body": "object"}"#,
            spec:
                #"{"url": "a", "headers": {"Content-Type": "application/merge-patch+json"}, "body_json": "{{arg.body}}"}"#
        ),
        Case(
            yaml:
                "requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/B'}}}}",
            arguments: #"{"a": "string", "b?": "any", "c?": {"d": "number"}}"#,
            spec: #"{"url": "a", "body_json": {"a": "{{arg.a}}", "b": "{{arg.b}}", "c": "{{arg.c}}"}}"#),
        Case(
            yaml:
                "requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}",
            arguments: #"{"next": {"next": {"next": {"next": {"next": {"next": {"next": "object"}}}}}}}"#,
            spec: #"{"url": "a", "body_json": {"next": "{{arg.next}}"}}"#),
        Case(
            yaml:
                "requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: string}, tags: {type: array, items: {type: string}}, 'ids[]': {type: array, items: {type: string}}, meta: {type: object}}}, encoding: {meta: {style: deepObject}}}}}",
            arguments: #"{"a?": "string", "ids__?": ["string"], "meta?": "object"}"#,
            spec: #"{"url": "a", "body_form": {"a": "{{arg.a}}", "ids": "{{arg.ids__}}", "meta": "{{arg.meta}}"}}"#,
            remarks: [
                "part /paths/~1a/post/requestBody/content/application~1x-www-form-urlencoded/schema/properties/tags: tags: is a list in a form without deepObject"
            ]),
        Case(
            yaml:
                "requestBody: {required: true, content: {multipart/form-data: {schema: {type: object, required: [file], properties: {file: {type: string, format: binary}, note: {type: string}, meta: {type: object}}}}}}",
            arguments: #"{"file": "string", "note?": "string", "meta?": "object"}"#,
            spec:
                #"{"url": "a", "body_parts": [{"name": "file", "base64": "{{arg.file}}", "filename": "file"}, {"name": "note", "content": "{{arg.note}}"}, {"name": "meta", "type": "application/json", "content": "{{arg.meta}}"}]}"#
        ),
        Case(
            yaml: "requestBody: {required: true, content: {application/json: {schema: {$ref: 'b.yaml'}}}}",
            arguments: #"{"body": "any"}"#, spec: #"{"url": "a", "body_json": "{{arg.body}}"}"#,
            remarks: ["note /paths/~1a/post: the schema b.yaml refers to another file, so it allows any value"]),
        Case(
            yaml:
                "requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {}}}}}",
            spec: #"{"url": "a"}"#),
        Case(
            yaml: "requestBody: {content: {text/plain: {}, application/octet-stream: {}}}", spec: #"{"url": "a"}"#,
            remarks: ["part /paths/~1a/post/requestBody: body: is text/plain, application/octet-stream"]),
        Case(
            yaml:
                "requestBody: {required: true, content: {application/json: {schema: {oneOf: [{type: object, required: [k, a], properties: {k: {type: string}, a: {type: string}}}, {type: object, required: [k], properties: {k: {type: string}, b: {type: number}}}]}}}}",
            arguments: #"{"k": "string", "a?": "string", "b?": "number"}"#,
            spec: #"{"url": "a", "body_json": {"k": "{{arg.k}}", "a": "{{arg.a}}", "b": "{{arg.b}}"}}"#),
    ]

    @Test(arguments: bodies)
    func `bodies become arguments`(expected: Case) throws {
        let components = """
            schemas:
              A: {type: object, required: [a], properties: {a: {type: string}}}
              B:
                allOf:
                - $ref: '#/components/schemas/A'
                - {properties: {b: {oneOf: [{type: string}, {type: array}]}, c: {type: object, required: [d], properties: {d: {type: number}}}}}
              Node: {type: object, required: [next], properties: {next: {$ref: '#/components/schemas/Node'}}}
            """
        let api = try ImportTests.api(expected.yaml, method: "post", components: components)
        let operation = try #require(api.operations.first, "\(api.remarks)")
        #expect(operation.arguments.text == expected.arguments)
        #expect(
            sorted(operation.spec.text)
                == sorted(expected.spec.replacing("{\"url\"", with: "{\"method\": \"POST\", \"url\"")))
        #expect(api.remarks.map { "\($0.kind) \($0.place): \($0.reason)" } == expected.remarks)
    }

    @Test(arguments: [
        (
            "parameters: [{name: s, in: cookie, required: true, schema: {type: string}}]",
            "needs the parameter s, which is a cookie"
        ),
        (
            "parameters: [{name: f, in: query, required: true, style: deepObject, schema: {type: object}}]",
            "needs the parameter f, which is an object in the style deepObject"
        ),
        ("parameters: [{$ref: 'other.yaml#/P'}]", "parameter 0 refers to another file"),
        (
            "parameters: [{$ref: '#/components/parameters/None'}]",
            "parameter 0 refers to a part that is not in the file"
        ),
        ("parameters: [{in: query}]", "parameter 0 has no name or no in"),
        ("requestBody: {required: true, content: {text/plain: {}}}", "needs a body that is text/plain"),
        ("requestBody: {$ref: 'b.yaml'}", "needs a body that refers to another file"),
        (
            "requestBody: {required: true, content: {multipart/form-data: {schema: {type: object, required: [f], properties: {f: {type: array, items: {type: string, format: binary}}}}}}}",
            "needs a body that has the property f, which is a list in a multipart body"
        ),
        ("servers: [{url: 'https://other.example'}]", "has another server than the service: https://other.example"),
    ])
    func `an operation is left out with its reason`(yaml: String, reason: String) throws {
        let api = try ImportTests.api(yaml, method: "post")
        #expect(api.operations.isEmpty)
        #expect(api.namesLeftOut == ["s.x"])
        #expect(api.remarks == [ImportedAPI.Remark(kind: .operation, place: "/paths/~1a/post", reason: reason)])
    }

    /// The objects of a JSON text in an order that does not depend on how it was written: members, sorted.
    private func sorted(_ json: String) -> [String] {
        json.split { "{},".contains($0) }.map { $0.drop { $0 == " " } }.map(String.init).sorted()
    }
}
