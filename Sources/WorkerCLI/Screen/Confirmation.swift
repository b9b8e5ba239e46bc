// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A question to the person at the terminal.
enum Confirmation {
    /// Whether standard input is a terminal. C: `isatty`.
    static var canAsk: Bool { isatty(0) == 1 }

    /// Asks on standard error and reads a line. True only for `y` or `yes`.
    ///
    /// - Throws: `usage` with the system's reason if the line cannot be read.
    static func ask(_ question: String) throws(CommandError) -> Bool {
        Terminal.write("\(question) [y/N] ", to: .error)
        var line = [UInt8](repeating: 0, count: 256)
        var count: Int
        repeat {
            count = unsafe Glibc.read(0, &line, line.count)
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw .usage("the answer", Terminal.reason(errno), "give --yes") }
        let answer = String(decoding: line.prefix(count), as: UTF8.self).lowercased()
        return ["y", "yes"].contains(answer.filter { $0.isLetter })
    }
}
