// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The commands that list the rows of one status view: queues, lanes, schedules, services and workers.
enum StatusCommands {
    static let queues = command(
        "queues", "list queues with their jobs, rates and pauses",
        StatusView(
            name: "queue_status", order: "v.queue",
            columns: [
                .init("queue"), .init("state", StatusView.queueState, .state), .init("ready", .number),
                .init("running", .number), .init("scheduled", .number), .init("waiting", .number),
                .init("succeeded", .number), .init("failed", .number),
                .init("oldest_ready_age", "date_trunc('second', v.oldest_ready_age)", .number),
                .init("rate_per_second", .number),
                .init("estimated_drain", "date_trunc('second', v.estimated_drain)", .number),
            ]))

    static let lanes = command(
        "lanes", "list lanes with their limits, calls and pauses",
        StatusView(
            name: "lane_status", order: "v.lane",
            columns: [
                .init("lane"), .init("state", StatusView.laneState, .state), .init("in_flight", .number),
                .init("max_in_flight", .number), .init("ready", .number),
                .init("rate_limit", "v.rate_limit || ' in ' || v.rate_period", .number),
                .init("oldest_ready_age", "date_trunc('second', v.oldest_ready_age)", .number),
                .init("paused_until", "date_trunc('second', v.paused_until)"), .init("pause_reason"),
            ]))

    static let schedules = command(
        "schedules", "list schedules with their next and last ticks",
        StatusView(
            name: "schedule_status", order: "v.name",
            columns: [
                .init("name"), .init("state", "case when v.enabled then 'on' else 'off' end", .state), .init("cron"),
                .init("timezone"), .init("next_run_at", "date_trunc('second', v.next_run_at)"),
                .init("last_run_at", "date_trunc('second', v.last_run_at)"), .init("last_job_id", .number),
                .init("last_state", .state), .init("missed", .number), .init("last_error"),
            ]))

    static let services = command(
        "services", "list services with their servers",
        StatusView(
            name: "service_status", order: "v.service, v.environment",
            columns: [
                .init("service"), .init("environment"), .init("state", .state), .init("servers", .number),
                .init("servers_active", .number), .init("calls", .number), .init("errors", .number),
                .init("open_until", "date_trunc('second', v.open_until)"),
                .init("stub", "case when v.has_stub then 'stub' end"), .init("base_url"),
            ]))

    static let workers = command(
        "workers", "list workers that run or ended within a day",
        StatusView(
            name: "worker_status", order: "v.ended_at is not null, v.epoch",
            columns: [
                .init("worker"), .init("epoch", .number), .init("state", .state),
                .init("leader", "case when v.leader then 'leader' end"), .init("in_flight", .number),
                .init("concurrency", .number), .init("queues"), .init("environment"), .init("version"),
                .init("started_at", "date_trunc('second', v.started_at)"),
                .init("heartbeat_at", "date_trunc('second', v.heartbeat_at)"),
            ]))

    /// A command that prints the view as a table, or with `--json` each row as one JSON object.
    private static func command(_ name: String, _ summary: String, _ view: StatusView) -> CommandSpec {
        CommandSpec(
            name: name, group: .overview, summary: summary, example: "\(name) --json",
            flags: [
                Database.flag,
                Flag(
                    name: "json", kind: .toggle, isCommandLineOnly: true,
                    meaning: "one JSON object a line, all columns of \(view.name)"),
            ],
            run: { (arguments) throws(CommandError) in
                let connection = try Database.open(arguments, readsOnly: true)
                do throws(PGError) {
                    if arguments.isOn("json") {
                        for line in try view.jsonLines(connection) { Terminal.write(line + "\n") }
                    } else {
                        let lines = try view.rows(connection).lines(palette: Palette(arguments.environment))
                        Terminal.write(lines.map { $0 + "\n" }.joined())
                    }
                    return .clean
                } catch {
                    throw Database.failure(error)
                }
            })
    }
}
