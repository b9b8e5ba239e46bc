// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JobModel
internal import Synchronization

/// Text out and bytes in, by the descriptors; Glibc's `stdout` is no part of Swift 6.
enum Terminal {
    /// Where text goes.
    enum Stream: Int32 {
        /// What was asked for.
        case output = 1
        /// What is told beside it.
        case error = 2
    }

    /// The number of the error that kept text from standard output; 0: none, or nobody reads there any more.
    static var outputError: Int32 { failure.load(ordering: .relaxed) }
    private static let failure = Atomic<Int32>(0)

    /// Writes all of the text; gives up when that fails, see `outputError`. C: `write`.
    static func write(_ text: String, to stream: Stream = .output) {
        write(Array(text.utf8), to: stream)
    }

    /// Writes all of the bytes.
    static func write(_ bytes: [UInt8], to stream: Stream) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(stream.rawValue, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN {
                // Somebody who shares it has made it non-blocking.
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

    /// Takes the numbers of standard input, output and error that are closed, so that no connection gets them and is
    /// written into: each use of them fails. C: `fcntl`, `open`.
    static func occupyClosed() {
        for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes findings, one a line: the grade, what was looked at, what was found.
    static func write(_ findings: [Finding]) {
        for finding in findings {
            let grade = finding.grade.rawValue, subject = finding.subject
            write(
                grade + String(repeating: " ", count: max(1, 8 - grade.count)) + subject
                    + String(repeating: " ", count: max(1, 12 - subject.count)) + SanitizedText.escape(finding.text)
                    + "\n"
            )
        }
    }

    /// Whether a person reads the stream. C: `isatty`.
    static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// Reads a file, or standard input for `-`, up to a limit; nil if it is longer.
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

    /// What the system calls an error. C: `strerror`.
    static func reason(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    private static func unreadable(_ path: String) -> CommandError {
        let reason = reason(errno)
        return .usage("FILE \(quoted(path))", reason, "give a file, or - for standard input")
    }
}
