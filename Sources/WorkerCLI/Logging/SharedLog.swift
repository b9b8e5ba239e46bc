// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The log that several threads of the program share. Each write is one line.
final class SharedLog: Sendable {
    private struct Log: ~Copyable {
        var writer: LogWriter
        var output: LogOutput
    }

    private let log: Mutex<Log>

    init(_ format: LogFormat) {
        log = Mutex(Log(writer: LogWriter(format), output: LogOutput(Terminal.Stream.error.rawValue)))
    }

    func write(_ event: LogEvent) {
        log.withLock { $0.writer.write(event, to: &$0.output) }
    }
}
