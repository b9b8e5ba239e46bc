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
        var text = """
            {"traceId":"\(context.trace.hex)","spanId":"\(TraceSpan.hex(id))"
            """
        if parent != 0 { text += ",\"parentSpanId\":\"\(TraceSpan.hex(parent))\"" }
        if !context.state.isEmpty { text += ",\"traceState\":\(JSONText.quoted(context.state))" }
        text += ",\"flags\":\(context.flags),\"name\":\(JSONText.quoted(name)),\"kind\":\(kind.rawValue)"
        text += ",\"startTimeUnixNano\":\"\(min(start, end))\",\"endTimeUnixNano\":\"\(end)\",\"attributes\":["
        text += attributes.map { TraceSpan.attribute($0.name, $0.value) }.joined(separator: ",")
        if let error { text += TraceSpan.separator(attributes) + TraceSpan.attribute("error.type", .text(error)) }
        text += error == nil ? "]}" : "],\"status\":{\"code\":2}}"
        return Array(text.utf8)
    }

    private static func separator(_ before: [(name: String, value: Value)]) -> String { before.isEmpty ? "" : "," }

    private static func hex(_ id: UInt64) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func attribute(_ name: String, _ value: Value) -> String {
        switch value {
        case .text(let text): "{\"key\":\"\(name)\",\"value\":{\"stringValue\":\(JSONText.quoted(text))}}"
        case .number(let number): "{\"key\":\"\(name)\",\"value\":{\"intValue\":\"\(number)\"}}"
        }
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
