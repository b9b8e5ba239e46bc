// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many file descriptors the process may open, and how a worker divides them.
///
/// Running calls come first. Idle connections may use the others, and are closed when calls need them.
public struct DescriptorBudget: Equatable, Sendable {
    /// The most descriptors that the process may open.
    public let allowed: Int

    /// The descriptors that a worker needs in addition to its calls: sessions, dashboard, poller, signals, libraries.
    private static let reserved = 64
    /// A higher limit has no use for a worker.
    private static let useful: rlim_t = 65_536

    /// A budget of so many descriptors.
    public init(allowed: Int) { self.allowed = allowed }

    /// The current limit of the process. C: `getrlimit(RLIMIT_NOFILE)`.
    public static var current: DescriptorBudget { DescriptorBudget(allowed: Int(clamping: limit.rlim_cur)) }

    /// Raises the soft limit to the hard limit, at most 65,536, and returns the new budget. C: `setrlimit`.
    public static func raised() -> DescriptorBudget {
        var wanted = limit
        wanted.rlim_cur = max(wanted.rlim_cur, min(wanted.rlim_max, useful))
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &wanted)
        return current
    }

    private static var limit: rlimit {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }

    /// The descriptors for so many calls at once: a socket each, and one more for a redirect, a look-up or a file.
    public static func needed(forCalls calls: Int) -> Int { 2 * calls + reserved }

    /// How many calls at once it allows.
    public var mostCalls: Int { max(1, (allowed - DescriptorBudget.reserved) / 2) }

    /// The number of connection descriptors from which on idle connections are closed.
    ///
    /// Each call may open a new connection before an old one is closed. At least half as many connections as calls are
    /// kept. Otherwise each call under a low limit would close its own connection at its end.
    func connections(slots: Int) -> Int { max(slots + slots / 2 + 16, allowed - DescriptorBudget.reserved - 3 * slots) }
}
