// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Wakes a loop from another thread: an eventfd that the loop polls.
public final class Wakeup: Sendable {
    private let eventfd: Int32

    /// A wakeup that nobody has used yet.
    public init() throws(ReactorError) {
        let number = CLinux.eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC))
        guard number >= 0 else { throw ReactorError("eventfd") }
        eventfd = number
    }

    deinit {
        _ = close(eventfd)
    }

    /// The descriptor to poll for reading; it stays this object's.
    public var descriptor: Int32 { eventfd }

    /// Makes the descriptor readable. From any thread; many signals before the loop looks are one.
    public func signal() {
        // Fails only with EAGAIN when the counter is full: then it is readable anyway.
        _ = eventfd_write(eventfd, 1)
    }

    /// Makes the descriptor unreadable again; the loop calls it before it looks at the work.
    public func drain() {
        var count: eventfd_t = 0
        unsafe eventfd_read(eventfd, &count)
    }
}
