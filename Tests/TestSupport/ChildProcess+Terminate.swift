// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

extension ChildProcess {
    /// Ends a server by SIGTERM, and waits for its end.
    ///
    /// A server may look at the flag of its signal handler right before it waits for events. The signal then does not
    /// wake it, and it would wait forever: nginx without a master process does so. So the signal is sent again.
    static func terminate(_ process: Int32) {
        var pause: UInt32 = 1_000
        repeat {
            kill(process, SIGTERM)
            usleep(pause)
            pause = min(100_000, 2 * pause)
        } while poll(process) == nil
    }
}
