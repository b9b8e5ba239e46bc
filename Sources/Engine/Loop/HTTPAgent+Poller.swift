// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import HTTPAgent
public import Reactor

extension HTTPAgent {
    /// Tells a poller what the agent's sockets wait for; the token of each is its descriptor.
    ///
    /// One that is no socket any more, since libcurl has closed it and told nobody, has nothing to wait for: its call,
    /// if it has one, ends by its limits, and no other notices.
    ///
    /// - Throws: the last of the refusals, after all sockets have been told.
    public func watch(in poller: inout Poller) throws(ReactorError) {
        var failure: ReactorError?
        drainSocketChanges { change in
            if change.isRemoval { return poller.remove(change.descriptor) }
            do throws(ReactorError) {
                try poller.set(
                    change.descriptor, token: UInt64(change.descriptor), read: change.wantsRead,
                    write: change.wantsWrite)
            } catch {
                // Not open, or a file that nobody can wait for.
                if error.number != EBADF && error.number != EPERM { failure = error }
            }
        }
        if let failure { throw failure }
    }
}
