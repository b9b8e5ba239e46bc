// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many file descriptors there are, and how a worker divides them.
///
/// Calls under way come first; connections that are kept for later calls take what is left, and give it back.
public struct DescriptorBudget: Equatable, Sendable {
    /// How many the process may have open.
    public let allowed: Int

    /// What a worker has beside its calls: sessions, pages and their readers, poller, signals, files of libraries.
    private static let beside = 64
    /// A limit beyond this is of no use to a worker.
    private static let useful: rlim_t = 65_536

    /// A budget of this many.
    public init(allowed: Int) { self.allowed = allowed }

    /// What the process may have now. C: `getrlimit(RLIMIT_NOFILE)`.
    public static var current: DescriptorBudget { DescriptorBudget(allowed: Int(clamping: limit.rlim_cur)) }

    /// Raises the soft limit to the hard one, as far as that is of use, and says what there is then. C: `setrlimit`.
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

    /// What so many calls at once need: a socket each, and another descriptor for a redirect, a look-up or a file.
    public static func needed(forCalls calls: Int) -> Int { 2 * calls + beside }

    /// How many calls at once it is enough for.
    public var mostCalls: Int { max(1, (allowed - DescriptorBudget.beside) / 2) }

    /// From how many descriptors of connections on idle ones are given up, with so many calls at once. Each of these
    /// may open one more before another one is closed; but half as many as calls are kept in any case: else each call
    /// that ends under a low limit would close its own connection.
    func connections(slots: Int) -> Int { max(slots + slots / 2 + 16, allowed - DescriptorBudget.beside - 3 * slots) }
}
