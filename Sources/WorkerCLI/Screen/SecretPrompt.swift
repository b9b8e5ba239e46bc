// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JobModel
internal import Reactor

/// Reads a secret from standard input. At a terminal it prompts, and does not show the typed text.
enum SecretPrompt {
    /// The bytes of standard input, or the next line of a terminal. Nil if standard input has more bytes than `limit`.
    ///
    /// - Parameter name: the credential's name, for the prompt.
    /// - Throws: `usage` if it cannot be read; `internalError` if a signal ends the wait.
    static func read(_ name: String, limit: Int) throws(CommandError) -> [UInt8]? {
        guard isatty(0) == 1 else { return try Terminal.read("-", limit: limit) }
        let signals = try EndSignals.take()
        var shown = termios()
        unsafe tcgetattr(0, &shown)
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        unsafe tcsetattr(0, TCSAFLUSH, &hidden)
        // The prompt comes after the echo is off. Otherwise a quick answer would be shown and dropped.
        Terminal.write("secret of \(SanitizedText.escape(name)), not shown: ", to: .error)
        defer {
            unsafe tcsetattr(0, TCSAFLUSH, &shown)
            Terminal.write("\n", to: .error)
        }
        guard isTyped(signals) else { throw CommandError(.internalError, "stopped by a signal; nothing was set") }
        guard let line = line() else {
            throw .usage("the secret", "is longer than a line of a terminal can be", "give it in a file: … <FILE")
        }
        return line
    }

    /// Waits for a line. False if a signal arrives before it. C: `poll`.
    private static func isTyped(_ signals: borrowing SignalSource) -> Bool {
        var entries = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&entries, 2, -1) < 0 && errno == EINTR {}
        return entries[1].revents == 0
    }

    /// A line of a terminal. Nil if its end may be lost: the system keeps 4,095 bytes of a line.
    ///
    /// C: `read`.
    private static func line() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(0, &bytes, bytes.count)
        guard count < bytes.count else { return nil }
        return Array(bytes.prefix(max(0, count)).prefix { $0 != 10 })
    }
}
