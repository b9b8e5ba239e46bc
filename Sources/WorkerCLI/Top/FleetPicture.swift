// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// One picture of `worker top`: the figures of the fleet, then tables of failures, lanes, queues and workers.
struct FleetPicture: Sendable {
    /// A table of the picture.
    struct Section: Sendable {
        /// The title of the table.
        var title: String
        var rows: StatusView.Rows
    }

    var summary: FleetSummary
    /// The tables, without those that have no row.
    var sections: [Section]

    /// The lines of the picture, at most `height` if given, each at most `width` characters long.
    ///
    /// If the tables do not fit, the longest ones are shortened. A last line says how many rows are left out.
    func lines(width: Int, height: Int? = nil, palette: Palette) -> [String] {
        var lines: [String] = summary.lines.map { $0.count > width ? $0.prefix(max(0, width - 1)) + "…" : $0 }
        let shown = FleetPicture.shares(of: sections.map(\.rows.rows.count), room: height.map { $0 - lines.count })
        for (section, count) in zip(sections, shown) where count > 0 {
            var rows = section.rows
            let left = rows.rows.count - count
            rows.rows = Array(rows.rows.prefix(count))
            let title = section.title + (left > 0 ? ", \(left) more not shown" : "")
            lines += ["", palette.paint(String(title.prefix(width)), .faint)]
            lines += rows.lines(width: width, palette: palette)
        }
        return height.map { Array(lines.prefix($0)) } ?? lines
    }

    /// How many rows of each table are shown if all tables have `room` lines.
    ///
    /// Each table has three further lines: a blank one, the title and the header. While the tables do not fit, the
    /// longest one loses a row.
    static func shares(of counts: [Int], room: Int?) -> [Int] {
        guard let room else { return counts }
        var shares = counts
        func needed() -> Int { shares.reduce(0) { $0 + ($1 > 0 ? $1 + 3 : 0) } }
        while needed() > room, let most = shares.max(), most > 0 {
            guard let longest = shares.lastIndex(of: most) else { break }
            shares[longest] -= 1
        }
        return shares
    }
}

extension FleetPicture {
    private static let tables: [(title: String, view: StatusView)] = [
        (
            "failures of the last 15 minutes, of the 100 newest",
            StatusView(
                name: """
                    (select count(*) as jobs, max(f.finished_at) as last, f.service, f.lane, f.state, f.error_code,
                            f.error_name, f.status_code
                       from postrider.recent_failures f where f.finished_at > now() - interval '15 min'
                      group by f.service, f.lane, f.state, f.error_code, f.error_name, f.status_code)
                    """,
                order: "v.jobs desc, v.last desc",
                columns: [
                    .init("jobs", .number), .init("last", "to_char(v.last, 'HH24:MI:SS')"), .init("state", .state),
                    .init("service"), .init("lane"), .init("error", "concat_ws(' ', v.error_code, v.error_name)"),
                    .init("status", "v.status_code", .number),
                ], limit: 50)
        ),
        (
            "lanes that delay jobs or fail",
            StatusView(
                name: "lane_status", order: "v.ready desc, v.lane",
                columns: [
                    .init("lane"), .init("state", StatusView.laneState, .state), .init("ready", .number),
                    .init("in_flight", .number), .init("max_in_flight", .number),
                    .init("paused_until", "date_trunc('second', v.paused_until)"), .init("pause_reason"),
                ], condition: "v.failing or v.held_by is not null", limit: 50)
        ),
        (
            "queues",
            StatusView(
                name: "queue_status",
                order: "v.paused or v.ready > 0 and not v.has_worker desc, v.ready desc, v.running desc, v.queue",
                columns: [
                    .init("queue"), .init("state", StatusView.queueState, .state), .init("ready", .number),
                    .init("running", .number), .init("scheduled", .number), .init("waiting", .number),
                    .init("oldest", "date_trunc('second', v.oldest_ready_age)", .number),
                    .init("per_second", "v.rate_per_second", .number),
                    .init("drain", "case when v.ready > 0 then date_trunc('second', v.estimated_drain) end", .number),
                ], limit: 50)
        ),
        (
            "workers",
            StatusView(
                name: "worker_status", order: "v.epoch",
                columns: [
                    .init("worker"), .init("state", .state), .init("leader", "case when v.leader then 'leader' end"),
                    .init("in_flight", .number), .init("concurrency", .number),
                    .init("heartbeat", "to_char(v.heartbeat_at, 'HH24:MI:SS')"), .init("queues"),
                ],
                condition: "v.ended_at is null or v.state = 'lost' and v.ended_at > now() - interval '15 min'",
                limit: 50)
        ),
    ]

    /// Reads the picture.
    static func read(_ connection: borrowing PGConnection) throws(PGError) -> FleetPicture {
        let summary = try FleetSummary.read(connection)
        var sections: [Section] = []
        for table in tables {
            let rows = try table.view.rows(connection)
            if !rows.rows.isEmpty { sections.append(Section(title: table.title, rows: rows)) }
        }
        return FleetPicture(summary: summary, sections: sections)
    }
}
