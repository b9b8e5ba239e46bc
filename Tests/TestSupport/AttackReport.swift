// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient

/// The counts of one round of a long test, as one line of a report. `scripts/guarantees_table.py` sums up the lines.
///
/// `POSTRIDER_REPORTS` names the folder of the report. Without it, nothing is counted.
public struct AttackReport {
    /// The promises of `docs/guarantees.md` that the tests attack.
    public enum Promise: String, Sendable {
        case final = "Each committed job ends in exactly one final state."
        case repeated = "If a worker dies during a call, another worker repeats the call."
        case once = "An at_most_once call that may have reached the server is not repeated."
        case fenced = "No result of an attempt that lost its lease is stored."
        case trees = "Batches and chains end as their rules say, and steps start in order."
        case pages = "Lists of pages stay complete and in order."
        case servers = "No attempt calls the same server twice."
        case isolated = "A client cannot lose, repeat or long delay another client's jobs."
        case lanes = "The limits of a lane hold for all workers together."
        case lateCommits = "A job that is committed late runs within 2 s of the commit."
        case ticks = "Each tick of a schedule makes one job."
        case tokens = "A fleet refreshes an expired token once."
        case callbacks = "The end of a job and its callback are both stored or neither."
        case cache = "The cache serves no incomplete answer."
    }

    /// The folder of the report, if there is to be one.
    private static let folder = unsafe getenv("POSTRIDER_REPORTS").map { unsafe String(cString: $0) }

    /// Whether rounds are counted.
    public static var isOn: Bool { folder != nil }

    private let promise: Promise
    private let attack: String
    /// How many rounds the line stands for.
    public var rounds = 1
    /// The jobs of these rounds, without batches and chains.
    public var jobs = 0
    /// The calls that reached the target.
    public var calls = 0
    /// Committed jobs without a final state.
    public var lost = 0
    /// Results of attempts that had lost their lease.
    public var stale = 0
    /// Repeated attempts by the reason of the repetition.
    public var repeats: [String: Int] = [:]

    /// A report without counts. `attack` says in a few words what the test does to the product.
    public init(_ promise: Promise, attack: String) {
        self.promise = promise
        self.attack = attack
    }

    /// Appends the line. One call writes it whole, so lines of several processes do not mix.
    public func write() {
        guard let folder = Self.folder else { return }
        let reasons = repeats.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        let line = """
            {"promise": "\(promise.rawValue)", "attack": "\(attack)", "is_soak": \(Soak.isOn), "rounds": \(rounds), \
            "jobs": \(jobs), "calls": \(calls), "lost": \(lost), "stale": \(stale), "repeats": {\(reasons)}}

            """
        _ = unsafe mkdir(folder, 0o755)
        let file = unsafe open(folder + "/rounds.jsonl", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        _ = unsafe Glibc.write(file, line, line.utf8.count)
        close(file)
    }
}

extension TestQueue {
    /// Counts the jobs of a round and what became of them, and adds the line to the report.
    ///
    /// - Parameters:
    ///   - calls: the requests that the target received.
    ///   - unexplained: calls without an attempt.
    ///   - isPaged: whether an attempt without an error brings one page of several, so the next one repeats nothing.
    ///   - jobs: a condition on `j`, the jobs to count.
    public func report(
        _ promise: AttackReport.Promise, attack: String, rounds: Int = 1, calls: Int, unexplained: Int = 0,
        isPaged: Bool = false, where jobs: String = "true"
    ) throws {
        guard AttackReport.isOn else { return }
        var report = AttackReport(promise, attack: attack)
        report.rounds = rounds
        report.calls = calls
        let counts = try connection.query(
            """
            select count(*), count(*) filter (where r.job_id is null),
                   count(*) filter (where w.lost and r.finished_at > w.ended_at
                                    and r.error_code is distinct from 'lost_worker')
              from postrider.jobs j
              left join postrider_internal.results r on r.job_id = j.id
              left join postrider_internal.workers w on w.id = r.worker
             where j.kind = 'request' and \(jobs)
            """)
        report.jobs = Int(counts.int64(0, 0))
        report.lost = Int(counts.int64(0, 1))
        report.stale = Int(counts.int64(0, 2))
        let reasons = try connection.query(
            """
            select coalesce(a.error_code, 'on request'), count(*)
              from (select x.error_code, row_number() over (partition by x.job_id order by x.fence desc) as place
                      from postrider.attempts x join postrider.jobs j on j.id = x.job_id where \(jobs)) a
             where a.place > 1 and (a.error_code is not null or not \(isPaged))
             group by 1
            """)
        for row in 0..<reasons.rowCount { report.repeats[reasons.text(row, 0)] = Int(reasons.int64(row, 1)) }
        if unexplained > 0 { report.repeats["without a reason"] = unexplained }
        report.write()
    }
}
