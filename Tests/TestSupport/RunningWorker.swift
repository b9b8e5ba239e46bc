// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster
internal import Synchronization

/// A worker that runs during the test, with its log. It is killed with the object or with the test process.
public final class RunningWorker: Sendable {
    /// The worker's process id.
    public let pid: Int32
    private let log: Int32
    /// Kills the worker if the test process ends without doing so: a shell reads this pipe and sees its end.
    private let guardian: Pipe
    private let guardianPID: Int32
    private let status = Mutex<Int32?>(nil)

    /// Starts `worker run` on a database with only a worker's rights. It allows private addresses and logs JSON.
    ///
    /// - Parameters:
    ///   - wrapper: a command that ends with an exec of the words behind it.
    ///   - pipe: the descriptor for the log instead of the file that `output` reads.
    public init(
        _ database: String, concurrency: Int = 8, _ words: [String] = [], under wrapper: [String] = [],
        log pipe: Int32? = nil
    ) throws {
        if let pipe {
            log = dup(pipe)
        } else {
            var name = [CChar]("/var/tmp/postrider-log-XXXXXX".utf8CString)
            log = unsafe mkstemp(&name)
            unsafe unlink(name)
        }
        _ = fcntl(log, F_SETFD, FD_CLOEXEC)
        pid = try ChildProcess.spawn(
            wrapper + [
                WorkerProcess.path, "run", "--database", TestRole.worker.database(database), "--concurrency",
                "\(concurrency)",
                "--allow-private", "--log-format", "json",
            ] + words, output: log)
        guardian = try Pipe()
        guardianPID = try ChildProcess.spawn(
            ["/bin/sh", "-c", "read -r word || kill -KILL $0", "\(pid)"], input: guardian.readEnd, output: -1)
        guardian.closeReadEnd()
    }

    deinit {
        _ = end(SIGKILL)
        close(log)
    }

    /// The log so far.
    public var output: String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe pread(log, &chunk, chunk.count, off_t(bytes.count))
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }

    /// The number of log lines with this event.
    public func count(of event: String) -> Int {
        output.split(separator: "\n").count { $0.contains("\"event\":\"\(event)\"") }
    }

    /// Waits until the log has `times` lines with this event.
    public func wait(_ seconds: Double = 20, for event: String, times: Int = 1) throws {
        try TestClock.wait(seconds, for: "\(event) in the log:\n\(output)") { count(of: event) >= times }
    }

    /// Sends a signal.
    public func send(_ signal: Int32) {
        status.withLock { if $0 == nil { Glibc.kill(pid, signal) } }
    }

    /// Sends a signal and waits for the end. Returns the exit status, or 128 + signal if the worker was killed.
    @discardableResult
    public func end(_ signal: Int32) -> Int32 {
        send(signal)
        return wait()
    }

    /// Ends the worker at once.
    ///
    /// A `defer` with this call right after the start also keeps the worker running up to the end of the scope. Without
    /// a later use, Swift may end the object earlier.
    public func kill() { end(SIGKILL) }

    /// Waits for the worker's end and returns its exit status.
    public func wait() -> Int32 {
        while true {
            if let code = statusIfEnded() { return code }
            ChildProcess.waitUntilEnded(pid)
        }
    }

    /// Whether the worker still runs.
    public var isRunning: Bool { statusIfEnded() == nil }

    /// The CPU time used so far in seconds, from `/proc/PID/stat`.
    public var cpuSeconds: Double {
        let file = unsafe open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = unsafe read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        // Fields 14 and 15. They are counted from the end of the name, because the name may hold spaces.
        let fields = (text.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 13 else { return 0 }
        return Double((Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The worker's exit status, or `nil` while it runs.
    ///
    /// The lock covers the moment at which the process id becomes free, and `send` signals under the same lock. So
    /// neither `send` nor the guardian can signal another process with this id.
    private func statusIfEnded() -> Int32? {
        status.withLock { status in
            if status == nil, ChildProcess.hasEnded(pid) {
                let word = [UInt8]("done\n".utf8)
                _ = unsafe write(guardian.writeEnd, word, word.count)
                guardian.closeWriteEnd()
                _ = ChildProcess.wait(for: guardianPID)
                status = ChildProcess.wait(for: pid)
            }
            return status
        }
    }
}

extension Sequence<RunningWorker> {
    /// Ends all workers at once.
    public func kill() {
        for worker in self { worker.kill() }
    }
}
