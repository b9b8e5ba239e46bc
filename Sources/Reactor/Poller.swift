// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The readiness of one descriptor.
public struct PollerEvent: Equatable, Sendable {
    /// The token from the registration of the descriptor.
    public var token: UInt64
    /// Whether bytes, or an end, can be read. Also set with `hangup`, so that the reader finds the reason.
    public var readable: Bool
    /// Whether bytes can be written. Also set with `hangup`.
    public var writable: Bool
    /// Whether the other side has closed, or the descriptor has an error.
    public var hangup: Bool

    /// An event. `Poller.wait` creates them.
    public init(token: UInt64, readable: Bool, writable: Bool, hangup: Bool = false) {
        self.token = token
        self.readable = readable
        self.writable = writable
        self.hangup = hangup
    }
}

/// An epoll set, level-triggered. One thread waits on it.
///
/// The owner chooses the tokens. Numbers of descriptors are reused, and the batch may still contain an event of a
/// closed one. So a descriptor's number is a safe token only if an extra event does no harm, as with libcurl. Otherwise
/// use a new token for each registration.
@safe public struct Poller: ~Copyable {
    private let epoll: Descriptor
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity = 256
    /// Whether epoll_pwait2 is available. Linux 5.11 and glibc 2.35 have it, some container sandboxes do not.
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

    /// Registers a descriptor, or changes its registration.
    ///
    /// Use it if a library may close and open a descriptor again under the same number. Closing has removed the old one
    /// from the set, which only the kernel knows.
    public func set(_ descriptor: Int32, token: UInt64, read: Bool, write: Bool) throws(ReactorError) {
        if control(EPOLL_CTL_MOD, descriptor, token, read, write) { return }
        guard errno == ENOENT else { throw ReactorError("epoll_ctl") }
        try add(descriptor, token: token, read: read, write: write)
    }

    /// Removes a descriptor. An unknown or closed one is no error. C: `EPOLL_CTL_DEL`.
    public func remove(_ descriptor: Int32) {
        epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Waits until a descriptor is ready or the timeout has passed, and replaces `ready` by the events.
    ///
    /// `nil` means no timeout, 0 does not wait. It never returns early for lack of precision: if the kernel supports
    /// milliseconds only, the timeout is rounded up, so it is at most 1 ms late. A signal handler ends the wait without
    /// events. C: `epoll_pwait2`.
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

    /// The timeout in milliseconds, rounded up; -1 for no timeout.
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
