// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// What a descriptor is ready for.
public struct PollerEvent: Equatable, Sendable {
    /// What the owner gave when it registered the descriptor.
    public var token: UInt64
    /// Bytes, or an end, can be read. Also set with `hangup`, so that the reader finds the reason.
    public var readable: Bool
    /// Bytes can be written. Also set with `hangup`.
    public var writable: Bool
    /// The other side is gone or the descriptor has an error.
    public var hangup: Bool

    /// An event, as `Poller.wait` makes them.
    public init(token: UInt64, readable: Bool, writable: Bool, hangup: Bool = false) {
        self.token = token
        self.readable = readable
        self.writable = writable
        self.hangup = hangup
    }
}

/// An epoll set, level-triggered; one thread waits on it.
///
/// Tokens are the owner's. Numbers of descriptors are reused, and an event of a closed one may still be in the batch: a
/// bare descriptor is a token only where an event too many does no harm, as libcurl's; else give a new one with each
/// registration.
@safe public struct Poller: ~Copyable {
    private let epoll: Descriptor
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity = 256
    /// Linux 5.11 and glibc 2.35 have it; some container sandboxes do not.
    private var hasNanosecondWait = true

    /// An empty set. C: `epoll_create1`.
    public init() throws(ReactorError) {
        epoll = try Descriptor("epoll_create1", epoll_create1(CInt(EPOLL_CLOEXEC)))
        unsafe events = .allocate(capacity: capacity)
    }

    deinit {
        unsafe events.deallocate()
    }

    /// Registers a descriptor. C: `EPOLL_CTL_ADD`.
    public func add(_ descriptor: Int32, token: UInt64, read: Bool, write: Bool) throws(ReactorError) {
        guard control(EPOLL_CTL_ADD, descriptor, token, read, write) else { throw ReactorError("epoll_ctl") }
    }

    /// Registers or changes, whichever it takes.
    ///
    /// For a descriptor that a library closes and opens again by itself, maybe under the same number: closing
    /// has taken the old one out of the set, and only the kernel knows.
    public func set(_ descriptor: Int32, token: UInt64, read: Bool, write: Bool) throws(ReactorError) {
        if control(EPOLL_CTL_MOD, descriptor, token, read, write) { return }
        guard errno == ENOENT else { throw ReactorError("epoll_ctl") }
        try add(descriptor, token: token, read: read, write: write)
    }

    /// Takes a descriptor out; one that is not in, or already closed, is no error. C: `EPOLL_CTL_DEL`.
    public func remove(_ descriptor: Int32) {
        epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Waits until something is ready or the time is over, and replaces `ready` by what is.
    ///
    /// `nil` waits for ever, 0 looks only. Never returns before the time is over for lack of precision: where
    /// the kernel counts milliseconds only, the wait is rounded up (so at most 1 ms late, and never spinning).
    /// A signal handler that ran ends the wait with nothing ready. C: `epoll_pwait2`.
    public mutating func wait(
        timeoutNanoseconds: UInt64?, into ready: inout [PollerEvent]
    ) throws(ReactorError) {
        ready.removeAll(keepingCapacity: true)
        let count = rawWait(timeoutNanoseconds)
        guard count >= 0 else {
            if errno == EINTR { return }
            throw ReactorError("epoll_pwait2")
        }
        for index in 0..<Int(count) {
            let event = unsafe events[index]
            let bits = unsafe event.events
            let hangup = bits & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
            ready.append(
                PollerEvent(
                    token: unsafe event.data.u64,
                    readable: hangup || bits & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0,
                    writable: hangup || bits & EPOLLOUT.rawValue != 0, hangup: hangup))
        }
    }

    private mutating func rawWait(_ nanoseconds: UInt64?) -> CInt {
        if hasNanosecondWait {
            let count: CInt
            if let nanoseconds {
                var limit = timespec(
                    tv_sec: Int(clamping: nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
                count = unsafe epoll_pwait2(epoll.rawValue, events, CInt(capacity), &limit, nil)
            } else {
                count = unsafe epoll_pwait2(epoll.rawValue, events, CInt(capacity), nil, nil)
            }
            guard count < 0 && (errno == ENOSYS || errno == EPERM) else { return count }
            hasNanosecondWait = false
        }
        return unsafe epoll_wait(epoll.rawValue, events, CInt(capacity), Self.milliseconds(nanoseconds))
    }

    /// The smallest whole number of milliseconds that is not shorter; -1 for ever.
    static func milliseconds(_ nanoseconds: UInt64?) -> CInt {
        guard let nanoseconds else { return -1 }
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return CInt(clamping: rest == 0 ? whole : whole + 1)
    }

    private func control(_ operation: CInt, _ descriptor: Int32, _ token: UInt64, _ read: Bool, _ write: Bool) -> Bool {
        var event = unsafe epoll_event()
        unsafe event.events = (read ? EPOLLIN.rawValue : 0) | (write ? EPOLLOUT.rawValue : 0)
        unsafe event.data.u64 = token
        return unsafe epoll_ctl(epoll.rawValue, operation, descriptor, &event) == 0
    }
}
