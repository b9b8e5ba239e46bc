// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// A span that has ended, in the JSON form of OTLP: ids in hex, 64-bit numbers as texts. Its attributes are written as
/// they are added.
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

    private var text = SpanJSON()
    private var hasAttributes = false

    /// A span without attributes.
    ///
    /// - Parameters:
    ///   - parent: the span above it; 0: none.
    ///   - start: when it began, in nanoseconds since 1970.
    ///   - end: when it ended, in nanoseconds since 1970.
    init(context: TraceContext, id: UInt64, parent: UInt64, name: String, kind: Kind, start: UInt64, end: UInt64) {
        text.add("{\"traceId\":")
        text.add(hex: context.trace)
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
    }

    /// Adds a text if there is one.
    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        open(name, "stringValue")
        text.add(quoted: value)
        text.add("}}")
    }

    /// Adds a number if there is one.
    mutating func add(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        open(name, "intValue")
        text.add(quoted: value)
        text.add("}}")
    }

    /// Writes an attribute up to its value. The names are constants, and need no escape.
    private mutating func open(_ name: StaticString, _ type: StaticString) {
        text.add(hasAttributes ? ",{\"key\":\"" : "{\"key\":\"")
        text.add(name)
        text.add("\",\"value\":{\"")
        text.add(type)
        text.add("\":")
        hasAttributes = true
    }

    /// Ends the span.
    ///
    /// - Parameter error: why it failed, an error code or a status; nil: it succeeded.
    consuming func json(error: String?) -> [UInt8] {
        add("error.type", error)
        text.add(error == nil ? "]}" : "],\"status\":{\"code\":2}}")
        return text.bytes
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
