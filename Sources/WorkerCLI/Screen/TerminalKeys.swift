// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads single keys of a terminal on standard input. The terminal is restored with the value.
struct TerminalKeys: ~Copyable {
    private var before = termios()
    /// The descriptor to poll for reading; -1 if standard input is no terminal.
    let descriptor: Int32

    /// Switches off the echo and the wait for a whole line. Ctrl-C still sends its signal. C: `tcsetattr`.
    init() {
        guard isatty(0) == 1, unsafe tcgetattr(0, &before) == 0 else {
            descriptor = -1
            return
        }
        var keys = before
        keys.c_lflag &= ~tcflag_t(ECHO | ICANON)
        unsafe tcsetattr(0, TCSANOW, &keys)
        descriptor = 0
    }

    deinit {
        guard descriptor >= 0 else { return }
        var before = before
        unsafe tcsetattr(0, TCSAFLUSH, &before)
    }

    /// The bytes that were typed. At the end of input it returns `q`, so that the caller does not wait in vain.
    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : [UInt8(ascii: "q")]
    }
}
