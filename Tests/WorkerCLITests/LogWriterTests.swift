// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WorkerCLI

struct LogWriterTests {
    private static let event = LogEvent(
        .warning, "database_lost",
        [("host", .text("db1")), ("error", .text("a \"b\"\n\\c\u{1b}")), ("tries", .number(3))])

    @Test func `a text log line leaves plain words bare and quotes other values`() {
        var writer = LogWriter(.text)
        #expect(
            writer.text(Self.event, seconds: 1_772_366_400, milliseconds: 7)
                == "2026-03-01T12:00:00.007Z warning database_lost host=db1 error=\"a \\\"b\\\"\\u000a\\\\c\\u001b\" tries=3\n"
        )
    }

    @Test func `a JSON log line is one object with escaped values`() {
        var writer = LogWriter(.json)
        #expect(
            writer.text(Self.event, seconds: 0, milliseconds: 999)
                == "{\"time\":\"1970-01-01T00:00:00.999Z\",\"level\":\"warning\",\"event\":\"database_lost\","
                + "\"host\":\"db1\",\"error\":\"a \\\"b\\\"\\u000a\\\\c\\u001b\",\"tries\":3}\n")
    }

    @Test(arguments: [LogFormat.text, .json])
    func `invisible characters are written as escapes in log lines`(format: LogFormat) {
        var writer = LogWriter(format)
        let value = "é\u{202e}gpj.\u{200b}\u{2028}\u{9b}\u{feff}\u{e0041}🙂"
        let line = writer.text(LogEvent(.info, "a", [("reason", .text(value))]), seconds: 0, milliseconds: 0)
        #expect(line.contains("\"é\\u202egpj.\\u200b\\u2028\\u009b\\ufeff\\udb40\\udc41🙂\""), "\(line)")
    }

    @Test func `a log line contains nothing of the line before`() {
        var writer = LogWriter(.text)
        _ = writer.text(Self.event, seconds: 0, milliseconds: 0)
        let second = writer.text(LogEvent(.info, "b"), seconds: 0, milliseconds: 0)
        #expect(second == "1970-01-01T00:00:00.000Z info b\n")
    }

    @Test func `a table aligns its columns and escapes control characters`() {
        let table = TextTable.format(["ID", "URL"], [["1", "a\u{1b}[2J"], ["20", "é"]])
        #expect(table == "ID  URL\n1   a\\u{1b}[2J\n20  é\n")
    }

    @Test func `a table shortens wide columns except the last column`() {
        let wide = String(repeating: "a", count: 70)
        let table = TextTable.format(["A", "B"], [[wide, wide]], widest: 10)
        #expect(table == "A           B\naaaaaaaaa…  \(wide)\n")
    }
}
