// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The lanes that are paused, and the lanes with limits that are not.
enum LaneMetrics {
    private enum Column: Int, PGColumn {
        case lane, paused

        var sql: StaticString {
            switch self {
            case .lane: "lane"
            case .paused: "paused"
            }
        }
    }

    /// The most lanes with a sample of their own.
    private static let limit = 200

    /// A lane without limits has a row after each 429, so such rows count only while they are paused. The row above the
    /// limit stands for all further lanes: it is paused if any of them is.
    static let query = """
        with paused as (
          select n.name from postrider.lanes n where n.paused_until > now()
           union select p.lane from postrider_internal.lane_pauses p where p.until > now())
        select \(Column.selectList)
          from (select name as lane, true as paused from paused
                union all
                select n.name, false from postrider.lanes n
                 where (n.max_in_flight is not null or n.rate_limit is not null)
                   and n.name not in (select name from paused)) l
         order by paused desc, lane limit \(limit + 1)
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let lanes = try connection.query(query)
        metrics.family("postrider_lane_paused", .gauge, "1 while a lane is paused; 0: a lane with limits that is not.")
        for row in 0..<lanes.rowCount {
            metrics.sample(
                "postrider_lane_paused", ["lane": row < limit ? lanes.text(row, Column.lane) : "other"],
                lanes.bool(row, Column.paused) ? 1 : 0)
        }
    }
}
