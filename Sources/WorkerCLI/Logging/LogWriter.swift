// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JobModel

/// Writes each event as one line. A line of at most 4 KB takes one `write`. The buffer is reused.
///
/// Use it on the loop's thread only.
struct LogWriter: ~Copyable {
    private let format: LogFormat
    private var line: [UInt8] = []

    init(_ format: LogFormat) {
        self.format = format
        line.reserveCapacity(512)
    }

    /// Writes the event with the current time. If lines were dropped before, it first writes their number. Without room
    /// the event is dropped.
    mutating func write(_ event: LogEvent, to output: inout LogOutput) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        guard output.finishLine() else { return output.drop() }
        if output.dropped > 0 {
            let loss = LogEvent(.warning, "log_lines_dropped", [("lines", .number(output.dropped))])
            build(loss, seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
            output.tell(line)
            guard output.dropped == 0, output.finishLine() else { return output.drop() }
        }
        build(event, seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
        output.write(line)
    }

    /// The line of an event at a time since 1970, including its line feed.
    mutating func text(_ event: LogEvent, seconds: Int, milliseconds: Int) -> String {
        build(event, seconds: seconds, milliseconds: milliseconds)
        return String(decoding: line, as: UTF8.self)
    }

    /// Replaces `line` by the line of an event.
    private mutating func build(_ event: LogEvent, seconds: Int, milliseconds: Int) {
        line.removeAll(keepingCapacity: true)
        switch format {
        case .text:
            append(time: seconds, milliseconds)
            append(" \(event.level.rawValue) \(event.name)")
            for field in event.fields {
                append(" \(field.key)=")
                switch field.value {
                case .number(let number): append(String(number))
                case .text(let text) where LogWriter.isPlain(text): append(text)
                case .text(let text): append(quoted: text)
                }
            }
        case .json:
            append("{\"time\":\"")
            append(time: seconds, milliseconds)
            append("\",\"level\":\"\(event.level.rawValue)\",\"event\":\"\(event.name)\"")
            for field in event.fields {
                append(",")
                append(quoted: field.key)
                append(":")
                switch field.value {
                case .number(let number): append(String(number))
                case .text(let text): append(quoted: text)
                }
            }
            append("}")
        }
        append("\n")
    }

    /// Whether the text needs no quotes in the text format: visible ASCII without `"`, `=` and `\`.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }
    }

    private mutating func append(_ text: String) { line += text.utf8 }

    /// Appends a JSON string, in text lines as well. So no value can begin a line, steer a terminal, or reverse the
    /// text next to it.
    private mutating func append(quoted text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": append("\\\(scalar)")
            case _ where SanitizedText.isHarmless(scalar): line += scalar.utf8
            default:
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    append("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
                }
            }
        }
        append("\"")
    }

    /// `2026-03-01T12:00:00.123Z`. C: `gmtime_r`.
    private mutating func append(time seconds: Int, _ milliseconds: Int) {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        // `tm` contains a pointer to the zone's name, so Swift regards it as unsafe. Only its numbers are read.
        let (year, month, day) = unsafe (Int(parts.tm_year) + 1900, parts.tm_mon + 1, parts.tm_mday)
        let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
        append(number: year, digits: 4)
        for (mark, number) in [("-", month), ("-", day), ("T", hour), (":", minute), (":", second)] {
            append(mark)
            append(number: Int(number), digits: 2)
        }
        append(".")
        append(number: milliseconds, digits: 3)
        append("Z")
    }

    private mutating func append(number: Int, digits: Int) {
        let text = String(number)
        append(String(repeating: "0", count: max(0, digits - text.utf8.count)) + text)
    }
}
