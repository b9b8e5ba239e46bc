// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JobModel
internal import PGClient
internal import Reactor

/// `worker top`: the state of the whole fleet, drawn again and again.
enum TopCommand {
    static let spec = CommandSpec(
        name: "top", group: .overview,
        summary: "watch the whole fleet: rates, failures, lanes, queues and workers",
        example: "top --interval 5s",
        flags: [
            Database.flag,
            Flag(
                name: "interval", kind: .duration(.milliseconds(500)...Duration.seconds(3600)), placeholder: "DURATION",
                example: "5s", isCommandLineOnly: true, fallback: "2s", meaning: "the time between two pictures"),
        ],
        details: [
            "It ends at q or Ctrl-C. If the output is not a terminal, it prints one picture and ends.",
            "Follow one job with worker watch ID.",
        ],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.open(arguments, readsOnly: true)
            let palette = Palette(arguments.environment)
            do throws(PGError) {
                guard Terminal.isTerminal(.output) else {
                    let lines = try FleetPicture.read(connection).lines(width: .max, palette: palette)
                    Terminal.write(lines.map { $0 + "\n" }.joined())
                    return .clean
                }
            } catch {
                throw Database.failure(error)
            }
            let signals = try EndSignals.take()
            do throws(PGError) {
                try draw(every: arguments.duration("interval", default: .seconds(2)), palette, connection, signals)
                return .clean
            } catch {
                throw Database.failure(error)
            }
        })

    /// Draws pictures until `q` or a signal.
    private static func draw(
        every interval: Duration, _ palette: Palette, _ connection: borrowing PGConnection,
        _ signals: borrowing SignalSource
    ) throws(PGError) {
        var screen = LiveScreen()
        // An error must not leave the terminal with a hidden cursor.
        defer { screen.end() }
        let keys = TerminalKeys()
        while true {
            let size = LiveScreen.size()
            let picture = try FleetPicture.read(connection)
            screen.draw(picture.lines(width: size.columns, height: max(1, size.rows - 1), palette: palette), size)
            if waitForEnd(interval, keys, signals) { return }
        }
    }

    /// Waits. True as soon as a signal arrives or `q` is pressed. Another key ends the wait. C: `poll`.
    private static func waitForEnd(
        _ interval: Duration, _ keys: borrowing TerminalKeys, _ signals: borrowing SignalSource
    ) -> Bool {
        var entries = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            // poll ignores an entry with a negative descriptor.
            pollfd(fd: keys.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&entries, 2, Int32(interval.wholeMilliseconds)) > 0 else { return false }
        if entries[0].revents != 0 { return !signals.read().isEmpty }
        return keys.read().contains { $0 == UInt8(ascii: "q") || $0 == UInt8(ascii: "Q") }
    }
}
