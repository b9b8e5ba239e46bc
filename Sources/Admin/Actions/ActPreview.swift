// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// The effect of an act, by the present state of the database.
struct ActPreview: Sendable {
    /// A name and a value of the object.
    struct Fact: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// 200, or 404 if the object does not exist.
    var status: UInt32 = 200
    let title: String
    /// The effect, or the reason why the act is not possible.
    let sentence: String
    /// The label of the button; nil: the act is not possible.
    var button: String?
    var facts: [Fact] = []

    /// Reads the object of an act.
    init(_ act: Act, _ connection: borrowing PGConnection) throws(PGError) {
        switch act.target {
        case .job(let id): self = try ActPreview.job(id, act.kind, connection)
        case .jobs(let selection):
            let filter = selection.fields.map { Fact(name: $0.name, value: $0.value) }
            self = try ActPreview.jobs(act, filter, connection)
        case .causes(let causes):
            let filters = causes.selections.map { selection in
                Fact(name: "cause", value: TickedCauses.words(selection.fields.map { ($0.name, $0.value) }))
            }
            self = try ActPreview.jobs(act, filters, connection)
        case .ticked(let jobs): self = try jobs.preview(act.kind, connection)
        case .queue(let name): self = try ActPreview.queue(name, act.kind, connection)
        case .lane(let name): self = try ActPreview.lane(name, act.kind, connection)
        case .schedule(let name): self = try ActPreview.schedule(name, connection)
        case .server(let service, let environment, let position):
            self = try ActPreview.server(service, environment, position, connection)
        case .credential(let name): self = try ActPreview.credential(name, connection)
        }
    }

    /// An effect.
    init(_ title: String, _ sentence: String, _ button: String?, status: UInt32 = 200) {
        self.title = title
        self.sentence = sentence
        self.button = button
        self.status = status
    }

    /// Selects facts of one object: their names, and their values as texts. Nil if there is no such object.
    private static func facts(
        _ columns: KeyValuePairs<String, String>, _ source: String, _ texts: [String],
        _ connection: borrowing PGConnection
    ) throws(PGError) -> [Fact]? {
        var parameters = PGParameters()
        for text in texts { parameters.append(text: text) }
        let list = columns.map { "(\($0.value))::text" }.joined(separator: ", ")
        let row = try connection.query("select \(list) from \(source) limit 1", &parameters)
        guard row.rowCount > 0 else { return nil }
        return zip(columns, 0...).compactMap { column, place in
            row.optionalText(0, place).map { Fact(name: column.key, value: $0) }
        }
    }

    /// The same effect with facts about the object.
    func with(_ facts: [Fact]) -> ActPreview {
        var preview = self
        preview.facts = facts
        return preview
    }

    private static func value(_ name: String, _ facts: [Fact]) -> String {
        facts.first { $0.name == name }?.value ?? ""
    }
}

// Jobs.
extension ActPreview {
    private static let finalStates = JobFilter.states.dropFirst(4)

    private static func job(
        _ id: Int64, _ kind: Act.Kind, _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let verb = kind.verb
        let found = try facts(
            [
                "state": "s.state", "kind": "s.kind", "queue": "s.queue", "lane": "s.lane",
                "call": """
                case when s.kind = 'request'
                  then concat_ws(' ', s.method, postrider_internal.url_with_masked_query(s.url, '{}')) end
                """,
            ], "postrider.job_status s where s.id = $1::bigint", ["\(id)"], connection)
        guard let found else {
            return ActPreview("\(verb) job \(id)", "There is no job \(id).", nil, status: 404)
        }
        let state = value("state", found), isRequest = value("kind", found) == "request"
        let hasEnded = finalStates.contains(state)
        let isPossible =
            switch kind {
            case .cancel: !hasEnded
            case .retry: hasEnded && state != "expired"
            default: isRequest ? ["scheduled", "ready"].contains(state) : !hasEnded
            }
        guard isPossible else {
            let reason = "Job \(id) is \(state), so this act is not possible."
            return ActPreview("\(verb) job \(id)", reason, nil).with(found)
        }
        let sentence =
            switch kind {
            case .cancel where isRequest:
                "Job \(id) will end as cancelled. A running call is aborted, but the server may have acted on it."
            case .cancel: "Job \(id) and all its unfinished members will end as cancelled. Running calls are aborted."
            case .retry where isRequest: "Job \(id) will run again, with max_attempts more attempts."
            case .retry: "All members of job \(id) that have not succeeded will run again."
            default: "Job \(id) will run at another time."
            }
        return ActPreview("\(verb) job \(id)", sentence, "\(verb) job \(id)").with(found)
    }

    /// An act on all jobs of one filter, or of several, which may overlap.
    private static func jobs(
        _ act: Act, _ filter: [Fact], _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let kind = act.kind
        let isOne = act.selections.count == 1
        var counts: [String: (jobs: Int, isCut: Bool)] = [:]
        var isCut = false
        var isPartial = false
        for (selection, state) in act.selections.flatMap({ one in one.states.map { (one, $0) } }) {
            // Each count may read as many rows as its bound. Of several filters, the first bound ends the counting.
            guard isOne || !isCut && !isPartial else { break }
            let found = try selection.filter(state: state).search(connection, window: selection.window)
            let isFull = found.ids.count >= JobSelection.mostCounted
            let isOpen = !isFull && found.reached != nil
            isCut = isCut || isFull
            isPartial = isPartial || isOpen
            let before = counts[state] ?? (0, false)
            counts[state] = (before.jobs + found.ids.count, before.isCut || isFull || isOpen)
        }
        let count = counts.values.reduce(0) { $0 + $1.jobs }
        let facts = JobFilter.states.compactMap { state -> Fact? in
            guard let found = counts[state], found.jobs > 0 || found.isCut else { return nil }
            return Fact(name: state, value: Column.grouped("\(found.jobs)") + (found.isCut ? " or more" : ""))
        }
        let verb = kind.verb
        guard count > 0 || isPartial else {
            return ActPreview("\(verb) jobs", "This act can change none of the matching jobs.", nil).with(filter)
        }
        let number =
            isCut
            ? "more than \(Column.grouped("\(max(count, JobSelection.mostCounted))"))"
            : (isPartial ? "at least " : "") + Column.grouped("\(count)")
        let isUncounted = count == 0 || !isOne && isPartial
        let jobs = isUncounted ? "all jobs that match" : "\(number) job\(count == 1 ? "" : "s")"
        // Filters may overlap.
        let bound = isOne || isCut || isPartial ? "" : "at most "
        var sentence = "This changes \(bound)\(jobs), 500 at a time; you can stop it. \(kind.effectOnMany)"
        if isPartial, isOne {
            let window = Column.grouped("\(act.selections[0].window)")
            sentence +=
                count == 0
                ? " None of the newest \(window) jobs of a state matches, but older ones may."
                : " The count looked at the newest \(window) jobs of a state. Older jobs that match change too."
        }
        if kind == .retry, !act.selections.contains(where: \.repeatsDoubtfulJobs) {
            sentence += " Jobs with delivery at_most_once on which a server may have acted are left out."
        }
        return ActPreview("\(verb) \(jobs)", sentence, "\(verb) \(jobs)").with(filter + facts)
    }
}

// Queues, lanes, and objects of services.
extension ActPreview {
    private static func queue(
        _ name: String, _ kind: Act.Kind, _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let found = try facts(
            ["ready": "q.ready", "running": "q.running", "paused": "q.paused"],
            "postrider.queue_status q where q.queue = $1", [name], connection)
        guard kind == .pauseQueue else {
            return ActPreview(
                "Resume queue \(name)", "Workers start calls of this queue again.", "Resume queue \(name)"
            ).with(found ?? [])
        }
        let ready = Column.grouped(found.map { value("ready", $0) } ?? "0")
        return ActPreview(
            "Pause queue \(name)",
            "No new call begins for its \(ready) ready jobs until it is resumed. Calls in flight go on.",
            "Pause queue \(name)"
        ).with(found ?? [])
    }

    private static func lane(
        _ name: String, _ kind: Act.Kind, _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let found = try facts(
            [
                "ready": "l.ready", "in flight": "l.in_flight", "paused until": "l.paused_until",
                "reason": "l.pause_reason",
            ], "postrider.lane_status l where l.lane = $1", [name], connection)
        guard kind == .pauseLane else {
            return ActPreview(
                "Resume lane \(name)", "Workers start calls of this lane again, within its limits.",
                "Resume lane \(name)"
            ).with(found ?? [])
        }
        let ready = Column.grouped(found.map { value("ready", $0) } ?? "0")
        return ActPreview(
            "Pause lane \(name)", "No new call begins for its \(ready) ready jobs. Calls in flight go on.",
            "Pause lane \(name)"
        ).with(found ?? [])
    }

    private static func schedule(
        _ name: String, _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let found = try facts(
            [
                "cron": "s.cron", "next": "s.next_run_at", "last": "s.last_run_at", "last job": "s.last_job_id",
                "last state": "s.last_state",
            ], "postrider.schedule_status s where s.name = $1", [name], connection)
        guard let found else {
            return ActPreview("Run schedule \(name)", "There is no schedule \(name).", nil, status: 404)
        }
        return ActPreview(
            "Run schedule \(name)", "It makes one job now. Its next tick stays as it is.", "Run schedule \(name) now"
        ).with(found)
    }

    private static func server(
        _ service: String, _ environment: String, _ position: Int32, _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let title = "Switch service \(service) to server \(position)"
        let found = try facts(
            [
                "environment": "s.environment",
                "base URL": "postrider_internal.url_without_login(d ->> 'base_url')", "state": "d ->> 'state'",
            ],
            """
            postrider.service_status s cross join lateral jsonb_array_elements(s.server_details) d
            where s.service = $1 and s.environment = $2 and d ->> 'position' = $3
            """, [service, environment, "\(position)"], connection)
        guard let found else {
            return ActPreview(
                title, "Service \(service) has no server \(position) in environment \(environment).", nil, status: 404)
        }
        return ActPreview(
            title, "All workers of environment \(environment) call this server first. Calls in flight go on.", title
        ).with(found)
    }

    private static func credential(
        _ name: String, _ connection: borrowing PGConnection
    ) throws(PGError) -> ActPreview {
        let found = try facts(
            ["kind": "c.kind", "state": "c.state", "jobs waiting": "c.jobs_waiting"],
            "postrider.credential_status c where c.name = $1", [name], connection)
        guard let found else {
            return ActPreview("Log out \(name)", "There is no credential \(name).", nil, status: 404)
        }
        return ActPreview(
            "Log out \(name)",
            "Its secrets are deleted. Until somebody logs in, jobs that need it end with not_logged_in.",
            "Log out \(name)"
        ).with(found)
    }
}
