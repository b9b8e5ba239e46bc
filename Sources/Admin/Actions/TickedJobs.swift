// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The jobs that a person has ticked in a list, for an act on exactly these. Pure, except for the preview.
struct TickedJobs: Equatable, Sendable {
    /// In the order of the ids, each once.
    let ids: [Int64]

    /// The argument of `/act` with ids, separated by commas.
    static let field = "ids"
    /// The most jobs of one act, because it is one transaction.
    static let most = 500
    /// How many ids the page that confirms the act lists.
    private static let mostShown = 20

    /// Reads the ids.
    ///
    /// - Throws: the defect of the argument.
    init(_ text: String) throws(ActDefect) {
        var found: Set<Int64> = []
        for part in text.split(separator: ",") {
            guard let id = Int64(part), id > 0 else { throw ActDefect("ids", "has an id that is no number of a job") }
            found.insert(id)
        }
        guard !found.isEmpty else { throw ActDefect("ids", "names no job") }
        guard found.count <= TickedJobs.most else {
            throw ActDefect("ids", "has more than \(TickedJobs.most) jobs: use a filter, and act on all that match")
        }
        ids = found.sorted()
    }

    /// The ids, separated by commas.
    var text: String { ids.map(String.init).joined(separator: ",") }

    /// The SQL statement that does the same.
    ///
    /// - Parameter call: the function with its arguments, for `job_status s`.
    func statement(_ kind: Act.Kind, _ call: String) -> String {
        let states = JobSelection.states(for: kind).map { "'\($0)'" }.joined(separator: ", ")
        let list = ids.map(String.init).joined(separator: ", ")
        return "select \(call)\n  from postrider.job_status s\n where s.id in (\(list))\n   and s.state in (\(states));"
    }

    private enum StateColumn: Int, PGColumn {
        case state, jobs

        var sql: StaticString {
            switch self {
            case .state: "s.state"
            case .jobs: "count(*) as jobs"
            }
        }
    }

    /// The effect of an act on these jobs, by their present states.
    func preview(_ kind: Act.Kind, _ connection: borrowing PGConnection) throws(PGError) -> ActPreview {
        var parameters = PGParameters()
        parameters.append(int64s: ids)
        let read = try connection.query(
            """
            select \(StateColumn.selectList) from postrider.job_status s where s.id = any ($1)
             group by s.state order by s.state
            """, &parameters)
        let possible = JobSelection.states(for: kind)
        var facts = [ActPreview.Fact(name: "ticked", value: shown)]
        var count: Int64 = 0
        var missing = Int64(ids.count)
        for row in 0..<read.rowCount {
            let (state, jobs) = (read.text(row, StateColumn.state), read.int64(row, StateColumn.jobs))
            let fits = possible.contains(state)
            facts.append(.init(name: state, value: fits ? "\(jobs)" : "\(jobs), left out"))
            count += fits ? jobs : 0
            missing -= jobs
        }
        if missing > 0 { facts.append(.init(name: "deleted", value: "\(missing)")) }
        guard count > 0 else {
            let words = possible.joined(separator: ", ")
            return ActPreview(
                "\(kind.verb) jobs", "This act fits none of the ticked jobs. It takes jobs that are \(words).", nil
            ).with(facts)
        }
        let jobs = count == 1 ? "1 job" : "\(count) jobs"
        let part = count < Int64(ids.count) ? "\(count) of the \(ids.count) ticked jobs" : jobs
        return ActPreview(
            "\(kind.verb) \(jobs)", "At once, this changes \(part). \(kind.effectOnMany)", "\(kind.verb) \(jobs)"
        ).with(facts)
    }

    private var shown: String {
        let list = ids.prefix(TickedJobs.mostShown).map(String.init).joined(separator: ", ")
        let rest = ids.count - TickedJobs.mostShown
        return rest > 0 ? "\(list) and \(rest) more" : list
    }

    /// Changes the jobs in the current transaction.
    ///
    /// - Returns: how many changed. A batch or chain counts once, also if it runs again because of its members.
    func change(
        _ act: Act, _ actor: AdminLogin, _ connection: borrowing PGConnection
    ) throws(PGError) -> Int64 {
        var parameters = PGParameters()
        parameters.append(text: act.kind.rawValue)
        parameters.append(int64s: ids)
        parameters.append(text: actor.words)
        parameters.append(text: act.time)
        return try connection.query(
            """
            select postrider_internal.act_on_jobs($1, $2, $3, coalesce($4::timestamptz, now()), true, false) as value
            """, &parameters
        ).int64(0, PGValueColumn.value)
    }
}
