// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// A span that has ended, as OTLP describes it.
struct TraceSpan {
    /// The number of OTLP.
    enum Kind: Int {
        /// A batch or chain.
        case `internal` = 1
        /// An attempt: a call to a server.
        case client = 3
        /// A job: it was queued before.
        case consumer = 5
    }

    /// The value of an attribute.
    enum Value {
        case text(String)
        case number(Int64)
    }

    var context: TraceContext
    var id: UInt64
    /// The span above it; 0: none.
    var parent: UInt64
    var name: String
    var kind: Kind
    /// Nanoseconds since 1970.
    var start: UInt64
    var end: UInt64
    var attributes: [(name: String, value: Value)] = []
    /// Set if it failed: an error code or a status.
    var error: String?

    /// Adds a text if there is one.
    mutating func add(_ name: String, _ text: String?) {
        if let text { attributes.append((name, .text(text))) }
    }

    /// Adds a number if there is one.
    mutating func add(_ name: String, _ number: Int64?) {
        if let number { attributes.append((name, .number(number))) }
    }

    /// The span in the JSON form of OTLP: ids in hex, 64-bit numbers as texts.
    var json: [UInt8] {
        var text = SpanJSON()
        text.add("{\"traceId\":")
        text.add(hex: context.trace.high, context.trace.low)
        text.add(",\"spanId\":")
        text.add(hex: id)
        if parent != 0 {
            text.add(",\"parentSpanId\":")
            text.add(hex: parent)
        }
        if !context.state.isEmpty {
            text.add(",\"traceState\":")
            text.add(quoted: context.state)
        }
        text.add(",\"flags\":")
        text.add(number: context.flags)
        text.add(",\"name\":")
        text.add(quoted: name)
        text.add(",\"kind\":")
        text.add(number: kind.rawValue)
        text.add(",\"startTimeUnixNano\":")
        text.add(quoted: min(start, end))
        text.add(",\"endTimeUnixNano\":")
        text.add(quoted: end)
        text.add(",\"attributes\":[")
        for (index, attribute) in attributes.enumerated() {
            if index > 0 { text.add(",") }
            TraceSpan.write(attribute.name, attribute.value, to: &text)
        }
        if let error {
            if !attributes.isEmpty { text.add(",") }
            TraceSpan.write("error.type", .text(error), to: &text)
        }
        text.add(error == nil ? "]}" : "],\"status\":{\"code\":2}}")
        return text.bytes
    }

    /// Writes an attribute. The names are constants, and need no escape.
    private static func write(_ name: String, _ value: Value, to text: inout SpanJSON) {
        text.add("{\"key\":\"")
        text.add(name)
        switch value {
        case .text(let value):
            text.add("\",\"value\":{\"stringValue\":")
            text.add(quoted: value)
        case .number(let value):
            text.add("\",\"value\":{\"intValue\":")
            text.add(quoted: value)
        }
        text.add("}}")
    }

    /// The body of a request with these spans.
    static func body(_ spans: [[UInt8]], resource: [String: String]) -> [UInt8] {
        let attributes = resource.sorted { $0.key < $1.key }.map { entry in
            "{\"key\":\(JSONText.quoted(entry.key)),\"value\":{\"stringValue\":\(JSONText.quoted(entry.value))}}"
        }
        var body = Array(
            """
            {"resourceSpans":[{"resource":{"attributes":[\(attributes.joined(separator: ","))]},\
            "scopeSpans":[{"scope":{"name":"postrider","version":"\(ProductVersion.current)"},"spans":[
            """.utf8)
        body.reserveCapacity(body.count + spans.reduce(8) { $0 + $1.count + 1 })
        for (index, span) in spans.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += span
        }
        body += "]}]}]}".utf8
        return body
    }
}
