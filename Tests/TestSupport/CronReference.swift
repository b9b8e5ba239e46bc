// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// What croniter and Python's zone arithmetic say of cron expressions: an implementation that shares nothing with ours.
public enum CronReference {
    /// Random expressions, each with a zone and an instant, and the next time of each.
    ///
    /// croniter walks local times; the program maps them to instants by the rules of `docs/schedules.md`: a local time that is
    /// skipped stands for the first instant after the gap, one that occurs twice for its first. Where the zone's offset stays the
    /// same around the result, croniter's own answer for that zone must be the same, or the program fails.
    ///
    /// - Returns: lines `expression TAB zone TAB instant TAB next`, the next empty for an expression that never fires.
    public static func lines(seed: UInt64, count: Int) throws -> String {
        let python = try ProjectFolder.python()
        let (status, output) = try ChildProcess.run([
            python, "-W", "error", "-c", program, "\(seed % 1_000_000)", "\(count)",
        ])
        guard status == 0 else { throw TestClock.Timeout(description: output) }
        return output
    }

    private static let program = #"""
        import random, sys
        from datetime import datetime, timedelta, timezone
        from zoneinfo import ZoneInfo
        from croniter import CroniterBadDateError, croniter

        r = random.Random(int(sys.argv[1]))
        MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
        DAYS = "sun mon tue wed thu fri sat".split()
        ZONES = ["UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/St_Johns", "America/Havana", "Africa/Casablanca",
                 "Africa/Cairo", "Asia/Beirut", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia"]

        def item(low, high, names):
            say = (lambda v: r.choice([names[v - low], names[v - low].upper()])) if names and r.random() < 0.5 else str
            a, b = sorted(r.sample(range(low, high + 1), 2))
            kind = r.random()
            if kind < 0.5: return say(a)
            if kind < 0.75: return f"{say(a)}-{say(b)}"
            if kind < 0.9: return f"{say(a)}-{say(b)}/{r.randint(1, max(2, (high - low) // 3))}"
            return f"{a}/{r.randint(2, max(3, (high - low) // 2))}"

        def field(low, high, stars, names=None):
            kind = r.random()
            if kind < stars: return "*"
            if kind < stars + 0.1: return f"*/{r.randint(2, max(2, (high - low) // 2))}"
            return ",".join(item(low, high, names) for _ in range(r.choice([1, 1, 1, 2, 3])))

        def expression():
            if r.random() < 0.05:
                return r.choice("@yearly @annually @monthly @weekly @daily @midnight @hourly".split())
            day = "L" if r.random() < 0.08 else field(1, 31, 0.5)
            kind = r.random()
            weekday = ",".join(f"{r.choice(DAYS + [str(d) for d in range(8)])}#{r.randint(1, 5)}" for _ in range(r.choice([1, 2]))) if kind < 0.08 \
                else f"L{r.randint(0, 6)}" if kind < 0.14 else field(0, 6, 0.5, DAYS)
            # croniter does not say "either" of a day and the second Monday, nor of a range that holds every day.
            if "#" in weekday or "L" in weekday: day = "*"
            parts = [field(0, 59, 0.2), field(0, 23, 0.35), day, field(1, 12, 0.6, MONTHS), weekday]
            expanded, _ = croniter.expand(" ".join(parts))
            if any(part != "*" and (len(days) == size or days == ["*"]) for part, days, size in ((day, expanded[2], 31), (weekday, expanded[4], 7))):
                return expression()
            return " ".join(([field(0, 59, 0.3)] if r.random() < 0.3 else []) + parts)

        def offset(zone, at):
            return at.astimezone(zone).utcoffset()

        def turn(zone, before, after):
            while after - before > timedelta(seconds=1):
                middle = before + timedelta(seconds=(after - before).total_seconds() // 2)
                if offset(zone, middle) == offset(zone, before): before = middle
                else: after = middle
            return after

        TURNS = {}
        for name in ZONES:
            zone, day, TURNS[name] = ZoneInfo(name), datetime(2024, 1, 1, tzinfo=timezone.utc), []
            while day.year < 2030:
                if offset(zone, day) != offset(zone, day + timedelta(days=1)):
                    TURNS[name].append(turn(zone, day, day + timedelta(days=1)))
                day += timedelta(days=1)

        def following(cron, zone, after):
            start = after.astimezone(zone).replace(tzinfo=None, fold=0)
            times = croniter(cron, start, second_at_beginning=True)
            while True:
                local = times.get_next(datetime)
                first = local.replace(tzinfo=zone, fold=0).astimezone(timezone.utc)
                if first.astimezone(zone).replace(tzinfo=None, fold=0) != local:
                    first = turn(zone, local.replace(tzinfo=zone, fold=1).astimezone(timezone.utc), first)
                if first > after:
                    return first

        for _ in range(int(sys.argv[2])):
            cron, name = expression(), r.choice(ZONES)
            zone = ZoneInfo(name)
            if TURNS[name] and r.random() < 0.5:
                after = r.choice(TURNS[name]) + timedelta(seconds=r.randint(-10_000, 10_000))
            else:
                after = datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=r.randint(0, 6 * 365 * 86400))
            try:
                found = following(cron, zone, after)
            except CroniterBadDateError:
                print(cron, name, after.isoformat(), "", sep="\t")
                continue
            if len({offset(zone, after + timedelta(days=d)) for d in range(-2, (found - after).days + 3)}) == 1:
                own = croniter(cron, after.astimezone(zone), second_at_beginning=True).get_next(datetime)
                assert own == found, (cron, name, after, own, found)
            print(cron, name, after.isoformat(), found.isoformat(), sep="\t")
        """#
}
