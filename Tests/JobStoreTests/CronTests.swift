// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The next tick of a cron expression.
struct CronTests {
    private static let seeds: [UInt64] = Soak.isOn ? Array(1...5) : [1]

    @Test(arguments: seeds)
    func `cron_next agrees with cronsim, and half of the instants are near a clock change`(seed: UInt64) throws {
        let queue = try TestQueue()
        let count = Soak.count(10_000, reduced: 1_000)
        let lines = try CronReference.lines(seed: seed, count: count)
        // The lines that disagree. cronsim has no next tick for an expression that is refused as `never fires`.
        let wrong = try queue.rows(
            """
            select x.case from (select x.case, string_to_array(x.case, chr(9)) as c
                                  from regexp_split_to_table(rtrim($x$\(lines)$x$, chr(10)), chr(10)) as x("case")) x
              cross join lateral postrider_internal.cron_plan(x.c[1]) p
             where case when p.reason is null then postrider.cron_next(x.c[1], x.c[2], x.c[3]::timestamptz) end
                   is distinct from nullif(x.c[4], '')::timestamptz
                or p.reason not like 'never fires%'
            """)
        #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(10))")
        #expect(lines.split(separator: "\n").count == count)
    }

    @Test(arguments: [
        // The local time is skipped: the tick is the first instant after the gap. Several skipped times give one tick.
        ("30 2 * * *", "Europe/Berlin", "2026-03-29 00:00:00", "2026-03-29 01:00:00"),
        ("*/10 2 * * *", "Europe/Berlin", "2026-03-29 01:00:00", "2026-03-30 00:00:00"),
        ("0 2,3 * * *", "Europe/Berlin", "2026-03-29 01:00:00", "2026-03-30 00:00:00"),
        ("30 2 * * *", "America/New_York", "2026-03-08 06:00:00", "2026-03-08 07:00:00"),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 14:00:00", "2026-10-03 15:30:00"),
        ("30 2 * * *", "Africa/Casablanca", "2026-03-22 00:00:00", "2026-03-22 02:00:00"),
        ("0 0 * * *", "America/Havana", "2026-03-08 04:00:00", "2026-03-08 05:00:00"),
        // The local time comes twice: the tick is the first of the two.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24 22:00:00", "2026-10-25 00:30:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25 00:30:00", "2026-10-26 01:30:00"),
        ("0-59/5 0-23 * * *", "Europe/Berlin", "2026-10-25 00:55:00", "2026-10-25 02:00:00"),
        ("* * 0-23 * * *", "Europe/Berlin", "2026-10-25 01:10:20", "2026-10-25 02:00:00"),
        ("*/30 1 * * *", "Europe/London", "2025-10-26 00:30:00", "2025-10-27 01:00:00"),
        ("30 1 * * *", "America/New_York", "2026-11-01 05:00:00", "2026-11-01 05:30:00"),
        ("30 1 * * *", "America/New_York", "2026-11-01 05:30:00", "2026-11-02 06:30:00"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 14:00:00", "2026-04-04 14:45:00"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 14:45:00", "2026-04-05 15:15:00"),
        ("30 2 * * *", "Africa/Casablanca", "2026-02-15 00:00:00", "2026-02-15 01:30:00"),
        ("30 2 * * *", "Africa/Casablanca", "2026-02-15 01:30:00", "2026-02-16 02:30:00"),
    ])
    func `a skipped local time fires right after the gap, and a repeated one fires the first time`(
        cron: String, zone: String, after: String, next: String
    ) throws {
        #expect(try CronFixture.next(cron, zone, after) == next)
    }

    @Test(arguments: [
        // The local times come twice: both are ticks.
        ("*/30 * * * *", "Europe/London", "2025-10-25 23:30:00", "00:00 00:30 01:00 01:30 02:00"),
        ("*/5 * * * *", "Europe/Berlin", "2026-10-25 00:50:00", "00:55 01:00 01:05 01:10 01:15"),
        ("15 */2 * * *", "Europe/Berlin", "2026-10-25 00:00:00", "00:15 01:15 03:15 05:15 07:15"),
        ("59 59 * * * *", "Europe/Berlin", "2026-10-24 23:00:00", "23:59 00:59 01:59 02:59 03:59"),
        ("*/15 * * * *", "Australia/Lord_Howe", "2026-04-04 14:29:00", "14:30 14:45 15:00 15:15 15:30"),
        ("30 *,4 * * *", "America/New_York", "2026-11-01 05:00:00", "05:30 06:30 07:30 08:30 09:30"),
        ("@hourly", "America/New_York", "2026-11-01 04:30:00", "05:00 06:00 07:00 08:00 09:00"),
        // The local times are skipped: no tick for them, and none at the end of the gap.
        ("*/30 * * * *", "Europe/London", "2026-03-29 00:00:00", "00:30 01:00 01:30 02:00 02:30"),
        ("30 * * * *", "Europe/Berlin", "2026-03-29 00:00:00", "00:30 01:30 02:30 03:30 04:30"),
        ("45 */2 * * *", "Europe/Berlin", "2026-03-29 00:00:00", "02:45 04:45 06:45 08:45 10:45"),
        ("0 * * * *", "America/Havana", "2026-03-08 03:30:00", "04:00 05:00 06:00 07:00 08:00"),
        ("0 * * * *", "Pacific/Apia", "2011-12-30 08:30:00", "09:00 10:00 11:00 12:00 13:00"),
    ])
    func `a schedule whose hour field begins with a star follows real time over clock changes`(
        cron: String, zone: String, after: String, next: String
    ) throws {
        let times = try CronFixture.connect().query(
            """
            with recursive ticks (at, nth) as (
              select postrider.cron_next('\(cron)', '\(zone)', '\(after)Z'), 1
              union all
              select postrider.cron_next('\(cron)', '\(zone)', t.at), t.nth + 1 from ticks t where t.nth < 5)
            select string_agg(to_char(at at time zone 'UTC', 'HH24:MI'), ' ' order by nth) from ticks
            """
        ).optionalText(0, 0)
        #expect(times == next)
    }

    @Test(arguments: [
        // If a day field begins with a star, both day fields must match.
        ("0 0 */2 * 1", "2026-11-23 00:00:00"), ("0 9 */1 * 1", "2026-11-23 09:00:00"),
        ("0 16 */31,1-7 * fri", "2026-12-04 16:00:00"), ("0 0 13 * */2", "2026-12-13 00:00:00"),
        ("0 0 13 * *,5", "2026-12-13 00:00:00"), ("0 0 */2 * 5L", "2026-11-27 00:00:00"),
        ("0 0 1 * */7", "2027-08-01 00:00:00"), ("0 0 ? * 1#1", "2026-12-07 00:00:00"),
        // Otherwise one matching day field is enough.
        ("0 0 13 * 1", "2026-11-23 00:00:00"), ("0 0 1-7 * fri", "2026-11-27 00:00:00"),
        ("0 0 1,* * 5", "2026-11-23 00:00:00"), ("0 0 1-31/2 * 1", "2026-11-23 00:00:00"),
        ("0 0 L * 2", "2026-11-24 00:00:00"), ("0 0 25 * 0-6/6", "2026-11-25 00:00:00"),
        // A step as long as its field, and weekdays up to 7.
        ("*/60 * * * *", "2026-11-22 07:00:00"), ("0 */24 * * *", "2026-11-23 00:00:00"),
        ("0 0 */31 * *", "2026-12-01 00:00:00"), ("0 0 1 */12 *", "2027-01-01 00:00:00"),
        ("0 0 * * 7/2", "2026-11-29 00:00:00"), ("0 0 * * 6/1", "2026-11-28 00:00:00"),
        ("1 0 * * 5/2", "2026-11-27 00:01:00"), ("1 0 22-29 11 3/4", "2026-11-23 00:01:00"),
    ])
    func `both day fields must match if one begins with a star, otherwise either is enough`(cron: String, next: String)
        throws
    {
        #expect(try CronFixture.next(cron, "UTC", "2026-11-22 06:00:00") == next)
    }

    @Test(arguments: [
        ("utc", "UTC"), ("uTc", "UTC"), ("europe/berlin", "Europe/Berlin"), ("EUROPE/BERLIN", "Europe/Berlin"),
        ("etc/gmt+5", "Etc/GMT+5"), ("gb", "GB"), ("america/argentina/ushuaia", "America/Argentina/Ushuaia"),
    ])
    func `zone names are accepted in any case`(given: String, name: String) throws {
        let next = try CronFixture.next("0 9 * * *", given, "2026-07-01 00:00:00")
        #expect(next != nil)
        #expect(try next == CronFixture.next("0 9 * * *", name, "2026-07-01 00:00:00"))
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
    func `cron_next understands names, ranges, steps, lists, L, nth weekdays and shorthands`(cron: String, next: String)
        throws
    {
        #expect(try CronFixture.next(cron, "UTC", "2026-11-22 06:00:00") == next)
    }

    @Test func `a leap day is found across the year 2100, which has none`() throws {
        #expect(try CronFixture.next("0 0 29 2 *", "UTC", "2096-03-01 00:00:00") == "2104-02-29 00:00:00")
    }

    @Test(arguments: [
        "", "x", "* * * *", "* * * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *",
        "* * * 13 *",
        "* * * * 8", "* * * * 1#0", "* * * * 1#6", "* * * * #1", "* * * * L", "* * L-3 * *", "* * 15W * *",
        "*/0 * * * *", "-1 * * * *",
        "1.5 * * * *", "1,,2 * * * *", "1- * * * *", "1-2-3 * * * *", "a * * * *", "* * * feb5 *", "? * * * *",
        "@reboot", "@never",
        "0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 */31 * 1#2", "0 0 */31 * 5L", "99999999999 * * * *", "* * * * mon#x",
        // A digit that is not ASCII.
        "٣ * * * *",
    ])
    func `an invalid cron expression is refused`(cron: String) throws {
        let error = try #require(throws: PGError.self) {
            _ = try CronFixture.connect().query("select postrider.cron_next('\(cron)', 'UTC', now())")
        }
        #expect(error.sqlState?.rawValue == "PR001")
        #expect(error.message.hasPrefix("cron: "))
        #expect(error.hint?.isEmpty == false)
    }

    @Test(arguments: [
        ("0 9 15W * *", "15W: W, ", "mon#3"), ("0 9 LW * *", "LW: W, ", "friL"), ("0 9 1-5w * *", "1-5w: W, ", "mon#3"),
        ("0 9 L-3 * *", "L-3: ", "L is the last day"), ("0 9 $ * *", "$ is not supported", "L is the last day"),
        ("@every 90m", "@every is not supported", "30 1-23/3 * * *"), ("@every 1h30m", "@every", "*/30"),
        ("@reboot", "@reboot", "run_schedule"), ("@weekdays", "shorthand", "mon-fri"),
        ("@often", "@often", "@daily"),
        ("*/90 * * * *", "the step of */90 is longer than the field, which has 60 values", "0 0-23/3 * * *"),
        ("0 */36 * * *", "the step of */36 is longer than the field, which has 24 values", "0 0 */2 * *"),
        ("0 16 */32,1-7 * fri", "the step of */32 is longer than the field, which has 31", "fri#1"),
        ("5-30/61 * * * *", "the step of 5-30/61", "1 to 60"),
        ("*/75 * * * * *", "second: the step of */75", "1 to 60"),
        ("0 0 1 */13 *", "month: the step of */13", "1 to 12"), ("0 0 * * */8", "the step of */8", "1 to 7"),
        ("0 0 1 1/13 *", "month: the step of 1/13", "1 to 12"),
        ("*/5000000 * * * *", "the step of */5000000", "1 to 60"),
        ("H/15 * * * *", "H/15: H ", "jitter"), ("0~30 * * * *", "0~30: ", "jitter"),
        ("0 9 * * Monday", "Monday: a full name", "mon"), ("0 0 12 ? * mon-fri 2027", "year", "second"),
        ("0 12 * * ? *", "? is for the two day fields", "second"), ("CRON_TZ=UTC 0 9 * * *", "time zone", "timezone"),
        ("rate(5 minutes)", "rate(...)", "*/5 * * * *"), ("cron(0 12 * * ? *)", "cron(...)", "year"),
    ])
    func `a refusal names the syntax that is not supported and what to write instead`(
        cron: String, reason: String, instead: String
    ) throws {
        let error = try #require(throws: PGError.self) {
            _ = try CronFixture.connect().query("select postrider.cron_next('\(cron)', 'UTC', now())")
        }
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(error.hint?.contains(instead) == true, "\(error.hint ?? "")")
    }
}

/// One database for the tests that only call functions.
private enum CronFixture {
    private static let database = Result { () throws -> String in try TestQueue.makeDatabase() }

    static func connect() throws -> PGConnection { try PGConnection(database.get()) }

    /// The next tick as text, in UTC.
    static func next(_ cron: String, _ zone: String, _ after: String) throws -> String? {
        try connect().query(
            """
            select to_char(postrider.cron_next('\(cron)', '\(zone)', '\(after)Z') at time zone 'UTC',
                           'YYYY-MM-DD HH24:MI:SS')
            """
        ).optionalText(0, 0)
    }
}
