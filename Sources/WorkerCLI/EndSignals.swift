// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Reactor

/// The signals that ask a command to stop.
enum EndSignals {
    /// Blocks SIGINT, SIGTERM and SIGHUP, so that they can be read instead of ending the process. Call it before other
    /// threads start.
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
