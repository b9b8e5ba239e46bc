// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// One column of a table, or one fact of a job: its name, its SQL expression and its format.
struct Column: Sendable {
    /// The kind of value.
    enum Kind {
        /// Plain text.
        case text
        /// Text in a monospaced font: URLs, commands, JSON.
        case code
        /// Monospaced text without line breaks: a word of a closed list.
        case word
        /// A whole or decimal number, aligned to the right.
        case number
        /// A size in bytes.
        case size
        /// A coloured state.
        case state
        /// A moment, shown as its distance from now.
        case moment
        /// A moment, shown with its distance from now.
        case instant
        /// An interval.
        case span
        /// A job's id.
        case job
        /// The name of a queue.
        case queue
        /// The name of a lane.
        case lane
        /// The name of a service.
        case service
        /// The name of an operation.
        case operation
        /// Counts of time steps, drawn as small bars.
        case trend
        /// A value that is read but not shown, for the links of a row.
        case hidden
    }

    let title: String
    let kind: Kind
    private let sql: String

    init(_ title: String, _ kind: Kind, _ sql: String) {
        self.title = title
        self.kind = kind
        self.sql = sql
    }

    /// The expression for a select list: text, or null without a value. A moment becomes its time and its age in
    /// seconds. Infinity counts as no value.
    var expression: String {
        switch kind {
        case .moment, .instant:
            """
            case when isfinite(\(sql))
              then to_char(\(sql), 'YYYY-MM-DD HH24:MI:SS') || '|' || extract(epoch from now() - \(sql)) end
            """
        case .span: "extract(epoch from \(sql))::text"
        default: "(\(sql))::text"
        }
    }

    /// Adds a value that `expression` has returned, in the format of its kind.
    func write(_ value: String?, to html: inout HTML) {
        guard let value, !value.isEmpty else { return }
        switch kind {
        case .text: html.text(value)
        case .code: html.element("code", value)
        case .word: html.element("code", ["class": "word"], value)
        case .number: html.text(Column.grouped(value))
        case .size: html.text(Column.size(Double(value) ?? 0))
        case .state: html.element("span", ["class": "state \(value)"], value)
        case .moment, .instant: Column.write(moment: value, isFull: kind == .instant, to: &html)
        case .span: html.text(Span.words(Double(value) ?? 0))
        case .job: html.element("a", ["href": "/jobs/\(value)"], value)
        case .queue: html.element("a", ["href": Column.link("/jobs", [("queue", value)])], value)
        case .lane: html.element("a", ["href": Column.link("/lanes", [("lane", value)])], value)
        case .service: html.element("a", ["href": Column.link("/services", [("service", value)])], value)
        case .operation: html.element("a", ["href": Column.link("/operations", [("operation", value)])], value)
        case .trend: Sparkline(value)?.write(to: &html)
        case .hidden: break
        }
    }

    private static func write(moment: String, isFull: Bool, to html: inout HTML) {
        let parts = moment.split(separator: "|", maxSplits: 1).map(String.init)
        let age = parts.count == 2 ? Double(parts[1]) : nil
        let time = "\(parts[0]) UTC", distance = age.map { Span.words(ago: $0) }
        if isFull {
            html.text(distance.map { "\(time), \($0)" } ?? time)
        } else {
            html.element("time", ["title": time], distance ?? time)
        }
    }

    /// A relative URL with these query arguments.
    static func link(_ path: String, _ arguments: KeyValuePairs<String, String>) -> String {
        link(path, arguments.map { ($0.key, $0.value) })
    }

    /// A relative URL with these query arguments.
    static func link(_ path: String, _ arguments: [(String, String)]) -> String {
        guard !arguments.isEmpty else { return path }
        let fields = arguments.map { FormField($0.0, $0.1) }
        return path + "?" + String(decoding: PercentEncoding.encode(fields, space: .percent), as: UTF8.self)
    }

    /// The number with thin spaces between thousands, from five digits on.
    static func grouped(_ number: String) -> String {
        let whole = number.prefix { $0 != "." }
        guard whole.count > 4, whole.allSatisfy({ ("0"..."9").contains($0) }) else { return number }
        var grouped = ""
        for (index, digit) in whole.enumerated() {
            if index > 0 && (whole.count - index) % 3 == 0 { grouped += "\u{2009}" }
            grouped.append(digit)
        }
        return grouped + number.dropFirst(whole.count)
    }

    /// A size in the unit that fits.
    static func size(_ bytes: Double) -> String {
        switch bytes {
        case ..<1000: "\(Int(bytes)) B"
        case ..<1e6: "\((bytes / 1e2).rounded() / 10) kB"
        default: "\((bytes / 1e5).rounded() / 10) MB"
        }
    }
}
