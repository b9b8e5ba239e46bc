// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The log as several parts of the program write to it, a line at a time.
final class SharedLog: Sendable {
    private struct Log: ~Copyable {
        var writer: LogWriter
        var output: LogOutput
    }

    private let log: Mutex<Log>

    /// A log on standard error.
    init(_ format: LogFormat) {
        log = Mutex(Log(writer: LogWriter(format), output: LogOutput(Terminal.Stream.error.rawValue)))
    }

    /// Writes one line.
    func write(_ event: LogEvent) {
        log.withLock { $0.writer.write(event, to: &$0.output) }
    }
}
