// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient
internal import Reactor

/// `worker watch [ID]`: the progress of a job and all jobs below it, drawn twice a second.
enum WatchCommand {
    static let spec = CommandSpec(
        name: "watch", group: .jobs,
        summary: "follow a job, batch or chain until it ends; without ID everything that runs",
        example: "watch 42",
        operands: [
            CommandSpec.Operand(
                name: "ID", meaning: "the job's id; without it each running batch, chain and transfer, until Ctrl-C",
                isID: true, isOptional: true)
        ],
        flags: [Database.flag],
        details: [
            "On a terminal it draws bars. Otherwise it prints a line for each change.",
            "Ends with 0 if the job succeeded or was skipped, with 1 if it ended in another state or a signal came first.",
        ],
        run: { (arguments) throws(CommandError) in
            let connection = try Database.open(arguments, readsOnly: true)
            let signals = try EndSignals.take()
            do throws(PGError) {
                return try watch(arguments.operands.first, connection, signals)
            } catch {
                throw Database.failure(error)
            }
        })

    /// Shows the progress until the job has ended or a signal arrives.
    private static func watch(
        _ id: String?, _ connection: borrowing PGConnection, _ signals: borrowing SignalSource
    ) throws(PGError) -> ExitCode {
        let isTerminal = Terminal.isTerminal(.output)
        var screen = LiveScreen()
        // An error must not leave the terminal with a hidden cursor.
        defer { screen.end() }
        var printed: [Int64: String] = [:]
        while true {
            let size = LiveScreen.size()
            let rows = try read(id, limit: isTerminal ? max(1, size.rows - 1) : 200, connection)
            if let id, rows.isEmpty { return JobCommands.missing(id) }
            if isTerminal {
                let lines = WatchFrame.lines(rows, width: size.columns)
                screen.draw(lines.isEmpty ? ["no job is running"] : lines, size)
            } else {
                for row in rows where printed[row.id] != row.line {
                    printed[row.id] = row.line
                    Terminal.write(row.line + "\n")
                }
            }
            if id != nil, let root = rows.first, root.isOver {
                return ["succeeded", "skipped"].contains(root.state) ? .clean : .failed
            }
            if waitForSignal(signals) { return id == nil ? .clean : .failed }
        }
    }

    private static func read(
        _ id: String?, limit: Int, _ connection: borrowing PGConnection
    ) throws(PGError) -> [WatchRow] {
        var parameters = PGParameters()
        parameters.append(int64: id.flatMap { Int64($0) })
        parameters.append(int32: Int32(limit))
        let result = try connection.query(
            "select \(WatchRow.columns) from postrider_internal.watch($1, $2)", &parameters)
        return (0..<result.rowCount).map { WatchRow.read(result, $0) }
    }

    /// Waits half a second. True as soon as a signal arrives. C: `poll`.
    private static func waitForSignal(_ signals: borrowing SignalSource) -> Bool {
        var entry = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 500) > 0 && !signals.read().isEmpty
    }
}
