// SPDX-License-Identifier: Apache-2.0

internal import JobModel

extension Act {
    /// The SQL statement that does the same.
    var statement: String {
        let quoted = SQLText.quoted
        let at = time.map { quoted($0) + "::timestamptz" }
        switch target {
        case .job(let id):
            return kind == .reschedule
                ? "select postrider.reschedule(\(id), \(at ?? "now()"));" : "select postrider.\(kind.rawValue)(\(id));"
        case .jobs(let selection): return statement(for: selection, at: at ?? "now()")
        case .causes(let causes):
            return causes.selections.map { statement(for: $0, at: at ?? "now()") }.joined(separator: "\n")
        case .ticked(let jobs): return jobs.statement(kind, jobCall(at: at ?? "now()"))
        case .queue(let name):
            return "select postrider.\(kind == .pauseQueue ? "pause_queue" : "resume_queue")(\(quoted(name)));"
        case .lane(let name):
            let until = kind == .pauseLane ? (at.map { ", \($0)" } ?? "") : ""
            return "select postrider.\(kind == .pauseLane ? "pause_lane" : "resume_lane")(\(quoted(name))\(until));"
        case .schedule(let name): return "select postrider.run_schedule(\(quoted(name)));"
        case .server(let service, let environment, let position):
            return "select postrider.switch_server(\(quoted(service)), \(position), \(quoted(environment)));"
        case .credential(let name): return "select postrider.log_out(\(quoted(name)));"
        }
    }

    /// The function for a job of `job_status s`.
    private func jobCall(at time: String) -> String {
        kind == .reschedule ? "postrider.reschedule(s.id, \(time))" : "postrider.\(kind.rawValue)(s.id)"
    }

    private func statement(for selection: JobSelection, at time: String) -> String {
        let fields = selection.fields
        func call(_ function: String, takes names: Set<String>) -> String? {
            guard fields.allSatisfy({ names.contains($0.name) }) else { return nil }
            let arguments = fields.filter { $0.name != "state" }.map { "\($0.name) => \(SQLText.quoted($0.value))" }
            return "select postrider.\(function)(\(arguments.joined(separator: ", ")));"
        }
        if kind == .cancel, let short = call("cancel_all", takes: ["queue", "lane", "tag"]) { return short }
        let failures: Set = ["queue", "error_code", "since", "tag", "lane", "error_name"]
        if kind == .retry, selection.states == ["failed"],
            let short = call("retry_failed", takes: failures.union(["state"]))
        {
            return short
        }
        let states = selection.states.map(SQLText.quoted).joined(separator: ", ")
        let conditions = ["s.state in (\(states))"] + fields.compactMap(Act.condition)
        return
            "select \(jobCall(at: time))\n  from postrider.job_status s\n where \(conditions.joined(separator: "\n   and "));"
    }

    private static func condition(_ field: FormField) -> String? {
        let value = SQLText.quoted(field.value)
        return switch field.name {
        case "state": nil
        case "status": "s.status_code = \(field.value)"
        case "since": "coalesce(s.finished_at, s.created_at) >= \(value)"
        case "until": "coalesce(s.finished_at, s.created_at) < \(value)"
        case "url": "position(\(value) in s.url) > 0"
        default: "s.\(field.name) = \(value)"
        }
    }
}
