// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// When a cron expression fires next.
struct CronTests {
    @Test func `next times are those of croniter, in zones with and without changes, half of them around one`() throws {
        let queue = try TestQueue()
        let count = Soak.count(20_000, reduced: 500)
        let lines = try CronReference.lines(seed: .random(in: 0...999_999), count: count)
        let wrong = try queue.rows(
            """
            select x.case from (select x.case, string_to_array(x.case, chr(9)) as c
                                  from regexp_split_to_table(rtrim($x$\(lines)$x$, chr(10)), chr(10)) as x("case")) x
              cross join lateral postrider.cron_plan(x.c[1]) p
             where case when p.reason is null then postrider.cron_next(x.c[1], x.c[2], x.c[3]::timestamptz) end
                   is distinct from nullif(x.c[4], '')::timestamptz
                or p.reason not like 'never fires%'
            """)
        #expect(wrong.isEmpty, "\(wrong.prefix(10))")
        #expect(lines.split(separator: "\n").count == count)
    }

    @Test(arguments: [
        // Skipped: the first instant after.
        ("30 2 * * *", "Europe/Berlin", "2026-03-29 00:00:00", "2026-03-29 01:00:00"),
        ("*/10 2 * * *", "Europe/Berlin", "2026-03-29 01:00:00", "2026-03-30 00:00:00"),
        ("0 2,3 * * *", "Europe/Berlin", "2026-03-29 01:00:00", "2026-03-30 00:00:00"),
        ("30 2 * * *", "America/New_York", "2026-03-08 06:00:00", "2026-03-08 07:00:00"),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 14:00:00", "2026-10-03 15:30:00"),
        ("30 2 * * *", "Africa/Casablanca", "2026-03-22 00:00:00", "2026-03-22 02:00:00"),
        ("0 0 * * *", "America/Havana", "2026-03-08 04:00:00", "2026-03-08 05:00:00"),
        // Twice: the first of the two.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24 22:00:00", "2026-10-25 00:30:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25 00:30:00", "2026-10-26 01:30:00"),
        ("*/5 * * * *", "Europe/Berlin", "2026-10-25 00:55:00", "2026-10-25 02:00:00"),
        ("* * * * * *", "Europe/Berlin", "2026-10-25 01:10:20", "2026-10-25 02:00:00"),
        ("30 1 * * *", "America/New_York", "2026-11-01 05:00:00", "2026-11-01 05:30:00"),
        ("30 1 * * *", "America/New_York", "2026-11-01 05:30:00", "2026-11-02 06:30:00"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 14:00:00", "2026-04-04 14:45:00"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 14:45:00", "2026-04-05 15:15:00"),
        ("30 2 * * *", "Africa/Casablanca", "2026-02-15 00:00:00", "2026-02-15 01:30:00"),
        ("30 2 * * *", "Africa/Casablanca", "2026-02-15 01:30:00", "2026-02-16 02:30:00"),
    ])
    func `a local time that a change skips stands for the first instant after it, one that comes twice for the first`(
        cron: String, zone: String, after: String, next: String
    ) throws {
        #expect(try CronDesk.next(cron, zone, after) == next)
    }

    @Test(arguments: [
        ("0 0 29 2 *", "2028-02-29 00:00:00"), ("0 0 L * *", "2026-11-30 00:00:00"),
        ("0 12 * * 5L", "2026-11-27 12:00:00"),
        ("0 12 * * friL", "2026-11-27 12:00:00"), ("0 12 * * 1#2", "2026-12-14 12:00:00"),
        ("0 0 * 2 1#5", "2044-02-29 00:00:00"),
        ("0 0 13 * fri", "2026-11-27 00:00:00"), ("0 0 15,L * *", "2026-11-30 00:00:00"),
        ("0 22-4/2 * * *", "2026-11-22 22:00:00"),
        ("0 0 * * fri-mon", "2026-11-23 00:00:00"), ("0 0 * * 7", "2026-11-29 00:00:00"),
        ("0 0 * * 0-7", "2026-11-23 00:00:00"),
        ("0 0 * * 6-7", "2026-11-28 00:00:00"), ("0 0 * * 7-7", "2026-11-29 00:00:00"),
        ("0 0 * * 0-7/3", "2026-11-25 00:00:00"),
        ("0 0 1 dec-feb *", "2026-12-01 00:00:00"), ("05 00 * * *", "2026-11-23 00:05:00"),
        ("*/20 30 4 * * *", "2026-11-23 04:30:00"),
        ("0 0 ? * 1", "2026-11-23 00:00:00"), ("@yearly", "2027-01-01 00:00:00"), ("@annually", "2027-01-01 00:00:00"),
        ("@monthly", "2026-12-01 00:00:00"), ("@weekly", "2026-11-29 00:00:00"), ("@daily", "2026-11-23 00:00:00"),
        ("@midnight", "2026-11-23 00:00:00"), ("@hourly", "2026-11-22 07:00:00"),
        ("  5  4  *  JAN  Mon ", "2027-01-04 04:05:00"),
    ])
    func `names, ranges, steps, lists, L and # and shorthands`(cron: String, next: String) throws {
        #expect(try CronDesk.next(cron, "UTC", "2026-11-22 06:00:00") == next)
    }

    @Test func `a leap day is found over a century without one`() throws {
        #expect(try CronDesk.next("0 0 29 2 *", "UTC", "2096-03-01 00:00:00") == "2104-02-29 00:00:00")
    }

    @Test(arguments: [
        "", "x", "* * * *", "* * * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *",
        "* * * 13 *",
        "* * * * 8", "* * * * 1#0", "* * * * 1#6", "* * * * #1", "* * * * L", "* * L-3 * *", "* * 15W * *",
        "*/0 * * * *", "-1 * * * *",
        "1.5 * * * *", "1,,2 * * * *", "1- * * * *", "1-2-3 * * * *", "a * * * *", "* * * feb5 *", "? * * * *",
        "@reboot", "@never",
        "0 0 30 2 *", "0 0 31 4,6,9,11 *", "99999999999 * * * *", "* * * * mon#x", "٣ * * * *",
    ])
    func `what is no cron expression is refused`(cron: String) throws {
        let error = try #require(throws: PGError.self) {
            _ = try CronDesk.connect().query("select postrider.cron_next('\(cron)', 'UTC', now())")
        }
        #expect(error.sqlState?.rawValue == "PR001")
        #expect(error.message.hasPrefix("cron: "))
        #expect(error.hint?.isEmpty == false)
    }
}

/// One database for the tests that only ask functions.
private enum CronDesk {
    private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }

    static func connect() throws -> PGConnection { try PGConnection(made.get()) }

    /// The next time as text, in UTC.
    static func next(_ cron: String, _ zone: String, _ after: String) throws -> String? {
        try connect().query(
            """
            select to_char(postrider.cron_next('\(cron)', '\(zone)', '\(after)Z') at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
            """
        ).optionalText(0, 0)
    }
}
