// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster
internal import Synchronization

/// A program that runs during the test, which reads its output at the same time. It is killed with the object.
public final class WatchedProcess: Sendable {
    private let pid: Int32
    private let log: Int32
    private let ended = Mutex<Int32?>(nil)

    /// Starts a program with its arguments.
    public init(_ command: [String]) throws {
        var name = [CChar]("/var/tmp/postrider-output-XXXXXX".utf8CString)
        log = unsafe mkstemp(&name)
        _ = fcntl(log, F_SETFD, FD_CLOEXEC)
        unsafe unlink(name)
        pid = try ChildProcess.spawn(command, output: log)
    }

    deinit {
        if ended.withLock({ $0 }) == nil {
            kill(pid, SIGKILL)
            _ = ChildProcess.wait(for: pid)
        }
        close(log)
    }

    /// The output so far.
    public var output: String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe pread(log, &chunk, chunk.count, off_t(bytes.count))
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }

    /// Waits until the program has written this text.
    public func wait(_ seconds: Double = 20, for text: String, times: Int = 1) throws {
        try TestClock.wait(seconds, for: "\(text) in the output:\n\(output)") {
            output.split(separator: text, omittingEmptySubsequences: false).count > times
        }
    }

    /// Waits for the program's end and returns its exit status. With a signal, it first sends the signal.
    public func status(_ seconds: Double = 30, signal: Int32? = nil) throws -> Int32 {
        if let signal { kill(pid, signal) }
        try TestClock.wait(seconds, for: "the end of the program; it has written:\n\(output)") {
            ended.withLock {
                if $0 == nil { $0 = ChildProcess.poll(pid) }
                return $0 != nil
            }
        }
        return ended.withLock { $0 } ?? -1
    }
}
