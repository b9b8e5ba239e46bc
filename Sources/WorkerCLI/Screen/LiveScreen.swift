// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// Lines that are repeatedly drawn in the same place of a terminal.
///
/// Each drawing is one write. It moves up to the first line and overwrites each line to its end. No line is cleared
/// before it is drawn, so the picture does not flicker. Line wrapping is off, because a wide character must not cause a
/// second line.
struct LiveScreen {
    /// The columns and rows of the terminal.
    struct Size: Equatable {
        var columns: Int
        var rows: Int
    }

    private var drawn = 0
    private var size = Size(columns: 80, rows: 24)

    /// The current size; 80 by 24 if the terminal does not report it. C: `ioctl`, TIOCGWINSZ.
    static func size() -> Size {
        var columns: Int32 = 0
        var rows: Int32 = 0
        guard unsafe clinux_terminal_size(Terminal.Stream.output.rawValue, &columns, &rows) == 0, columns > 0, rows > 0
        else { return Size(columns: 80, rows: 24) }
        return Size(columns: Int(columns), rows: Int(rows))
    }

    /// Draws the lines over the previous ones.
    ///
    /// The escape sequence `?25l` hides the cursor, and `?7l` turns line wrapping off. `2J` and `H` clear the screen and
    /// go to its first line. `A` goes up, `K` clears the rest of a line, `J` clears all lines below.
    mutating func draw(_ lines: [String], _ size: Size) {
        var text = drawn == 0 ? "\u{1b}[?25l\u{1b}[?7l" : ""
        if drawn > 0 && size != self.size {
            // The terminal has wrapped the old lines again, so their position is unknown.
            text += "\u{1b}[2J\u{1b}[H"
        } else if drawn > 1 {
            text += "\r\u{1b}[\(drawn - 1)A"
        } else {
            text += "\r"
        }
        text += lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        Terminal.write(text)
        drawn = max(1, lines.count)
        self.size = size
    }

    /// Keeps the last picture on the screen, and restores the terminal.
    mutating func end() {
        guard drawn > 0 else { return }
        Terminal.write("\u{1b}[?7h\u{1b}[?25h\r\n")
        drawn = 0
    }
}
