// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writes log lines to a descriptor whose reader may be slow or stopped.
///
/// It waits at most 100 ms in each second, because the same thread carries calls and heartbeats. Lines without room are
/// dropped and counted.
struct LogOutput: ~Copyable {
    /// The longest write to a pipe that is atomic. C: `PIPE_BUF`.
    private static let portion = 4096
    /// The longest wait for room in each second, in milliseconds.
    private static let maxWait: Int32 = 100
    /// One second in nanoseconds.
    private static let second: UInt64 = 1_000_000_000

    private let descriptor: Int32
    /// Whether this type opened the descriptor. Then it is non-blocking, and the deinit closes it.
    private let isOwn: Bool
    /// The rest of a line whose beginning was written.
    private var rest: ArraySlice<UInt8> = []
    /// How many lines were dropped since the last written one.
    private(set) var dropped = 0
    /// How many milliseconds of `maxWait` are left in the second that began at `waitSecondStart`.
    private var waitLeft = LogOutput.maxWait
    private var waitSecondStart: UInt64 = 0

    /// Writes to this descriptor, which the caller keeps open.
    ///
    /// A pipe is opened a second time in non-blocking mode. To change its own mode would affect all processes that
    /// share it. And between a check for room and a write another process may take the room. C: `fstat`, `open`.
    init(_ descriptor: Int32) {
        var status = stat()
        let isPipe = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        let own = isPipe ? unsafe open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1
        isOwn = own >= 0
        self.descriptor = isOwn ? own : descriptor
    }

    deinit {
        if isOwn { close(descriptor) }
    }

    /// Writes the rest of the last line.
    ///
    /// - Returns: whether that line is now complete, so that another one may begin.
    mutating func finishLine() -> Bool {
        if !rest.isEmpty { push(rest) }
        return rest.isEmpty
    }

    /// Counts a line as dropped.
    mutating func drop() { dropped += 1 }

    /// Writes a line, of which a rest may stay for `finishLine`. Call it only after `finishLine` returned true. If no
    /// byte could be written, the line is dropped.
    mutating func write(_ line: [UInt8]) {
        push(line[...])
        if isUntouched(line) { drop() }
    }

    /// Writes the line that reports the number of dropped lines.
    mutating func tell(_ line: [UInt8]) {
        push(line[...])
        if !isUntouched(line) { dropped = 0 }
    }

    /// Whether no byte of the line was written. Then the line is not kept.
    private mutating func isUntouched(_ line: [UInt8]) -> Bool {
        guard rest.count == line.count else { return false }
        rest = []
        return true
    }

    /// Writes as much as possible and keeps the rest. After a permanent error it drops the rest.
    private mutating func push(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe send($0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                guard waitsForRoom() else { return }
            } else if errno != EINTR {
                break
            }
        }
        rest = []
    }

    /// Writes one portion without blocking, and returns its size as `write` does. C: `send`, because systemd provides a
    /// socket; `poll` and `write`.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, LogOutput.portion)
        if !isOwn {
            let sent = unsafe Glibc.send(descriptor, bytes.baseAddress, count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            guard sent < 0, errno == ENOTSOCK else { return sent }
            guard hasRoom(within: 0) else {
                errno = EAGAIN
                return -1
            }
        }
        return unsafe Glibc.write(descriptor, bytes.baseAddress, count)
    }

    /// Waits for room, within the time that is left in this second.
    private mutating func waitsForRoom() -> Bool {
        let start = LogOutput.now
        if start >= waitSecondStart + LogOutput.second {
            waitSecondStart = start
            waitLeft = LogOutput.maxWait
        }
        guard waitLeft > 0 else { return false }
        let isReady = hasRoom(within: waitLeft)
        // A wait of less than a millisecond counts as one, since the thread has yielded.
        waitLeft -= max(1, Int32(clamping: (LogOutput.now - start) / 1_000_000))
        return isReady
    }

    /// Waits for room. An end or an error counts as room, because the write reports it. C: `poll`.
    private func hasRoom(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * second + UInt64(time.tv_nsec)
    }
}
