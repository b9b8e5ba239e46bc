// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JobModel
internal import Synchronization

/// Writes text and reads bytes by descriptors. Swift 6 does not allow Glibc's `stdout`, a global variable.
enum Terminal {
    /// The target of text.
    enum Stream: Int32 {
        /// The requested output.
        case output = 1
        /// Errors, warnings and prompts.
        case error = 2
    }

    /// The number of the error that prevented a write to standard output. 0: no error, or the reader has gone.
    static var outputError: Int32 { failure.load(ordering: .relaxed) }
    private static let failure = Atomic<Int32>(0)

    /// Writes the whole text. After an error it stops; see `outputError`. C: `write`.
    static func write(_ text: String, to stream: Stream = .output) {
        write(Array(text.utf8), to: stream)
    }

    static func write(_ bytes: [UInt8], to stream: Stream) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(stream.rawValue, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var entry = pollfd(fd: stream.rawValue, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
                continue
            }
            guard count > 0 else {
                if stream == .output && errno != EPIPE { failure.store(errno, ordering: .relaxed) }
                return
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Opens standard input, output and error if they are closed, in a mode in which each use fails. Otherwise a
    /// connection could get one of these descriptors, and output would be written into it. C: `fcntl`, `open`.
    static func occupyClosed() {
        for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes one line for each finding: the severity, the subject and the result.
    static func write(_ findings: [Finding], _ palette: Palette = .off) {
        for finding in findings {
            let grade = finding.grade.rawValue, subject = finding.subject
            write(
                palette.paint(grade, finding.grade.colour) + String(repeating: " ", count: max(1, 8 - grade.count))
                    + subject
                    + String(repeating: " ", count: max(1, 12 - subject.count)) + SanitizedText.escape(finding.text)
                    + "\n"
            )
        }
    }

    /// Whether the stream is a terminal. C: `isatty`.
    static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// Reads a file, or standard input for `-`, up to a limit. Nil if it is longer.
    ///
    /// - Throws: `usage` with the system's reason.
    static func read(_ path: String, limit: Int) throws(CommandError) -> [UInt8]? {
        let descriptor = path == "-" ? dup(0) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while bytes.count <= limit {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
        return nil
    }

    /// The system's text of an error. C: `strerror`.
    static func reason(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    private static func unreadable(_ path: String) -> CommandError {
        let reason = reason(errno)
        return .usage("FILE \(quoted(path))", reason, "give a file, or - for standard input")
    }
}
