// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Reactor

/// The signals that ask a command for its end.
enum EndSignals {
    /// SIGINT, SIGTERM and SIGHUP, to be read instead of ending the process; before there are other threads.
    ///
    /// - Throws: `internalError` with the system's reason.
    static func take() throws(CommandError) -> SignalSource {
        do throws(ReactorError) {
            return try SignalSource([SIGINT, SIGTERM, SIGHUP])
        } catch {
            throw CommandError(.internalError, "\(error)")
        }
    }
}
