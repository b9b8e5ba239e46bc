// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The log as several parts of the program write to it, a line at a time.
final class SharedLog: Sendable {
    private let writer: Mutex<LogWriter>

    /// A log on standard error.
    init(_ format: LogFormat) {
        writer = Mutex(LogWriter(format))
    }

    /// Writes one line.
    func write(_ event: LogEvent) {
        writer.withLock { $0.write(event) }
    }
}
