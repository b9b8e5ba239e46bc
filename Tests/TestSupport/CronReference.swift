// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// Ticks computed by cronsim, a Python library that follows Debian's cron and shares no code with Postrider.
public enum CronReference {
    /// Random expressions, each with a zone, an instant and the next tick. The same seed gives the same lines.
    ///
    /// Half of the instants lie within three hours of a clock change. The program leaves out four cases in which
    /// cronsim differs from `docs/schedules.md`. `docs/decisions/0015-schedules.md` lists them:
    /// - A minute field that begins with `*` next to fixed hours follows real time in cronsim. The program gives it as
    ///   a range.
    /// - Six fields always follow real time in cronsim.
    /// - After a clock change by half an hour, cronsim misses the first half of an hour.
    /// - If midnight is skipped, cronsim returns 1:00 for hour 0.
    ///
    /// - Returns: lines `expression TAB zone TAB instant TAB next`. If an expression never fires, `next` is empty.
    public static func lines(seed: UInt64, count: Int) throws -> String {
        let python = try ProjectFolder.python()
        let (status, output) = try ChildProcess.run([python, "-W", "error", "-c", program, "\(seed)", "\(count)"])
        guard status == 0 else { throw TestFault(description: output) }
        return output
    }

    private static let program = #"""
        import random, sys
        from datetime import datetime, timedelta, timezone
        from zoneinfo import ZoneInfo
        from cronsim import CronSim, CronSimError

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
            return f"{a}/{r.randint(2, high - low)}"

        def field(low, high, stars, names=None):
            kind = r.random()
            if kind < stars: return "*"
            items = [item(low, high, names) for _ in range(r.choice([1, 1, 1, 2, 3]))]
            if kind < stars + 0.15: items[0] = f"*/{r.randint(1, high - low + 1)}"
            if kind > 0.97: items.append("*")
            return ",".join(items)

        def expression():
            if r.random() < 0.05:
                return r.choice(["0 0 1 1 *", "0 0 1 * *", "0 0 * * 0", "0 0 * * *", "0 * * * *"])
            day, weekday = field(1, 31, 0.4), field(0, 6, 0.4, DAYS)
            if r.random() < 0.1: day = r.choice(["L", day + ",L"])
            if r.random() < 0.1: weekday = ",".join(f"{r.choice(DAYS + [str(d) for d in range(8)])}#{r.randint(1, 5)}" for _ in range(r.choice([1, 2])))
            if r.random() < 0.1: weekday = f"{r.randint(0, 7)}L"
            parts = [field(0, 59, 0.2), field(0, 23, 0.35), day, field(1, 12, 0.6, MONTHS), weekday]
            return " ".join(([field(0, 59, 0.3)] if r.random() < 0.25 else []) + parts)

        def offset(zone, at):
            return at.astimezone(zone).utcoffset()

        def turns(zone):
            day, found = datetime(2024, 1, 1, tzinfo=timezone.utc), []
            while day.year < 2030:
                before, after = day, day + timedelta(days=1)
                if offset(zone, before) != offset(zone, after):
                    while after - before > timedelta(seconds=1):
                        middle = before + timedelta(seconds=(after - before).total_seconds() // 2)
                        if offset(zone, middle) == offset(zone, day): before = middle
                        else: after = middle
                    found.append(after)
                day += timedelta(days=1)
            return found

        TURNS = {name: turns(ZoneInfo(name)) for name in ZONES}

        def is_near(turns, after, found):
            return any(after - timedelta(days=1) < turn < found + timedelta(days=1) for turn in turns)

        count = 0
        while count < int(sys.argv[2]):
            cron, name = expression(), r.choice(ZONES)
            zone = ZoneInfo(name)
            if TURNS[name] and r.random() < 0.5:
                after = r.choice(TURNS[name]) + timedelta(seconds=r.randint(-10_000, 10_000))
            else:
                after = datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=r.randint(0, 6 * 365 * 86400))
            fields = cron.split()
            is_fixed = not fields[-4].startswith("*")
            if is_fixed and fields[-5].startswith("*"): fields[-5] = "0-59" + fields[-5][1:]
            sim, found = None, None
            try:
                sim = CronSim(" ".join(fields), after.astimezone(timezone.utc if name == "UTC" else zone))
                found = next(at for at in (at.astimezone(timezone.utc) for at in sim) if at > after)
            except (CronSimError, StopIteration):
                pass
            if found:
                if is_fixed and len(fields) == 6 and is_near(TURNS[name], after, found): continue
                if not is_fixed and name == "Australia/Lord_Howe" and is_near(TURNS[name], after, found): continue
                if not is_fixed and found.astimezone(zone).hour not in sim.hours: continue
            print(cron, name, after.isoformat(), found.isoformat() if found else "", sep="\t")
            count += 1
        """#
}
