// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Takes lines of the log to a descriptor whose reader may be slow or stopped, and hardly waits for it: calls and
/// heartbeats are carried by the thread that writes them. What finds no room is dropped and counted.
struct LogOutput: ~Copyable {
    /// A pipe's longest write that goes whole or not at all. C: `PIPE_BUF`.
    private static let portion = 4096
    /// In each second the log may wait for so long: 100 ms.
    private static let patience: Int32 = 100
    private static let second: UInt64 = 1_000_000_000

    private let descriptor: Int32
    private let isOwn: Bool
    /// The end of a line whose beginning has been written.
    private var rest: ArraySlice<UInt8> = []
    /// Lines that were dropped since the last one that was written.
    private(set) var dropped = 0
    private var patienceLeft = LogOutput.patience
    private var patienceSince: UInt64 = 0

    /// Writes to this descriptor, which stays the caller's.
    ///
    /// A pipe is opened once more, without waiting: to make it so itself would change it for everybody who has it, and
    /// between a look for room and a write another process may take the room. C: `fstat`, `open`.
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

    /// Whether the line before is written to its end, so that another one may begin.
    mutating func isFree() -> Bool {
        if !rest.isEmpty { push(rest) }
        return rest.isEmpty
    }

    /// A line is not to be written.
    mutating func drop() { dropped += 1 }

    /// Writes a line while `isFree`. What does not fit goes before the next one; if nothing does, the line is dropped.
    mutating func write(_ line: [UInt8]) {
        push(line[...])
        if isUntouched(line) { drop() }
    }

    /// Writes the line that tells of all that were dropped.
    mutating func tell(_ line: [UInt8]) {
        push(line[...])
        if !isUntouched(line) { dropped = 0 }
    }

    /// Whether nothing of the line was written; then nothing of it is kept.
    private mutating func isUntouched(_ line: [UInt8]) -> Bool {
        guard rest.count == line.count else { return false }
        rest = []
        return true
    }

    /// Writes as much as there is room for; the rest is kept. What can never be written is given up.
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

    /// What `write` would do, had it not to wait. C: `send`, since systemd gives a socket; `poll` and `write`.
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

    /// Whether there is room before the patience of this second is over.
    private mutating func waitsForRoom() -> Bool {
        let asked = LogOutput.now
        if asked >= patienceSince + LogOutput.second {
            patienceSince = asked
            patienceLeft = LogOutput.patience
        }
        guard patienceLeft > 0 else { return false }
        let isReady = hasRoom(within: patienceLeft)
        // A wait of less than a millisecond counts as one: the thread was given up for it.
        patienceLeft -= max(1, Int32(clamping: (LogOutput.now - asked) / 1_000_000))
        return isReady
    }

    /// Waits for room. An end or an error counts as room: the write tells of it. C: `poll`.
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
