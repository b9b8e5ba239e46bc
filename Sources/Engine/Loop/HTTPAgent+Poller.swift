// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import HTTPAgent
public import Reactor

extension HTTPAgent {
    /// Registers the events that the agent's sockets wait for. The token of each socket is its descriptor.
    ///
    /// libcurl may close a socket without a notice. Such a descriptor has nothing to wait for. If it has a call, the
    /// call ends by its timeouts, and other calls are not affected.
    ///
    /// - Throws: the last error, after all sockets are registered.
    public func watch(in poller: inout Poller) throws(ReactorError) {
        var failure: ReactorError?
        drainSocketChanges { change in
            if change.isRemoval { return poller.remove(change.descriptor) }
            do throws(ReactorError) {
                try poller.set(
                    change.descriptor, token: UInt64(change.descriptor), read: change.wantsRead,
                    write: change.wantsWrite)
            } catch {
                // The descriptor is not open, or is a file, which epoll cannot watch.
                if error.number != EBADF && error.number != EPERM { failure = error }
            }
        }
        if let failure { throw failure }
    }
}
