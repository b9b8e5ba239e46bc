// SPDX-License-Identifier: Apache-2.0

@testable import JobModel
@testable import OpenAPI

/// A JSON value and a YAML value. A value that is written and read again must be the same.
enum JSONTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        if let value = try? JSONReader.read(input) { try check(value) }
        if let value = try? YAMLReader.read(input), weight(value) < 10_000 { try check(value) }
        _ = YAMLScalar.value(String(decoding: input, as: UTF8.self), isPlain: true, tag: nil)
    }

    private static func check(_ value: JSONValue) throws(Finding) {
        let text = value.text
        guard let again = try? JSONReader.read(Array(text.utf8)) else {
            throw Finding(description: "a value is written as no JSON: \(text.prefix(200))")
        }
        try expect(Array(again.text.utf8) == Array(text.utf8), "a value changes when it is read again")
    }

    /// The number of values, since aliases of YAML may repeat a value many times.
    private static func weight(_ value: JSONValue) -> Int {
        var left = 20_000
        func visit(_ value: JSONValue) {
            left -= 1
            guard left > 0 else { return }
            value.elements.forEach(visit)
            for (_, member) in value.object ?? [:] where left > 0 { visit(member) }
        }
        visit(value)
        return 20_000 - left
    }
}
