// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import WorkerCLI

/// A log whose reader stops reading and later continues.
struct LogOutputTests {
    /// A pipe, and the text that was read from it.
    private final class Reader {
        private var ends: [Int32] = [-1, -1]
        private(set) var text = ""

        /// Makes a pipe that holds 4 KB.
        init() {
            _ = unsafe pipe(&ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[1], 1031, 4096)  // F_SETPIPE_SZ
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        }

        deinit { for end in ends { close(end) } }

        var output: Int32 { ends[1] }
        var lines: [String] { text.split(separator: "\n").map(String.init) }

        /// Reads the available bytes.
        func read() {
            var chunk = [UInt8](repeating: 0, count: 65536)
            while case let count = unsafe Glibc.read(ends[0], &chunk, chunk.count), count > 0 {
                text += String(decoding: chunk[..<count], as: UTF8.self)
            }
        }
    }

    private static func event(_ number: Int, _ length: Int = 100) -> LogEvent {
        LogEvent(.info, "a", [("number", .number(number)), ("text", .text(String(repeating: "x", count: length)))])
    }

    @Test func `log lines that do not fit into the pipe are dropped and counted later`() {
        let reader = Reader()
        var output = LogOutput(reader.output)
        var writer = LogWriter(.text)
        for number in 1...1000 { writer.write(Self.event(number), to: &output) }
        #expect(output.dropped > 0)
        reader.read()
        writer.write(Self.event(1001), to: &output)
        reader.read()
        #expect(reader.lines.last?.contains(" number=1001 ") == true)
        // The log reports missing lines at their place. Such a report may fit where the next line does not.
        var expected = 1
        for line in reader.lines {
            let words = line.split(separator: " ")
            if words[2] == "log_lines_dropped" {
                expected += Int(words[3].dropFirst("lines=".count)) ?? 0
            } else {
                #expect(words[3] == "number=\(expected)")
                expected += 1
            }
        }
        #expect(expected == 1002)
        #expect(output.dropped == 0)
        // All processes share the flag of the pipe, so it must not change.
        #expect(fcntl(reader.output, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func `a log line longer than the pipe continues where it stopped`() {
        let reader = Reader()
        var output = LogOutput(reader.output)
        var writer = LogWriter(.text)
        writer.write(Self.event(1, 10_000), to: &output)
        writer.write(Self.event(2), to: &output)
        for number in 3...8 {
            reader.read()
            writer.write(Self.event(number, 1), to: &output)
        }
        reader.read()
        #expect(reader.lines[0].hasSuffix(" number=1 text=\(String(repeating: "x", count: 10_000))"))
        #expect(reader.lines[1].contains("log_lines_dropped lines="))
        #expect(reader.lines.last?.contains(" number=8 ") == true)
    }

    @Test func `a full socket drops log lines instead of blocking`() {
        var ends: [Int32] = [-1, -1]
        _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        defer { for end in ends { close(end) } }
        var output = LogOutput(ends[1])
        var writer = LogWriter(.text)
        for number in 1...10_000 { writer.write(Self.event(number), to: &output) }
        #expect(output.dropped > 0)
    }

    @Test func `writing the log to a pipe without a reader does not fail`() {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        close(ends[0])
        defer { close(ends[1]) }
        var output = LogOutput(ends[1])
        var writer = LogWriter(.text)
        for number in 1...10 { writer.write(Self.event(number), to: &output) }
        #expect(output.dropped == 0)
    }
}
