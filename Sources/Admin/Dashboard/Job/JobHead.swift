// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The facts about a job that decide what its page shows.
struct JobHead: Sendable {
    let id: Int64
    let kind: String
    let state: String
    let name: String?
    /// Method and URL of a request, secrets masked; nil: a batch or chain.
    let call: String?
    let parent: Int64?
    let position: Int32
    let hasEnded: Bool
    let progress: ProgressBar?

    private enum HeadColumn: Int, PGColumn {
        case kind, state, name, call, parent, position, hasEnded, children, ended, failed

        var sql: StaticString {
            switch self {
            case .kind: "s.kind"
            case .state: "s.state"
            case .name: "s.name"
            case .call:
                """
                case when s.kind = 'request' then concat_ws(' ', s.method,
                  postrider_internal.url_with_masked_query(s.url, '{}')) end as call
                """
            case .parent: "s.parent_id"
            case .position: "coalesce(s.position, 0) as position"
            case .hasEnded: "s.finished_at is not null as has_ended"
            case .children: "s.children"
            case .ended: "s.children_finished"
            case .failed: "s.children_failed"
            }
        }
    }

    /// Reads the facts. Nil if the job does not exist.
    static func read(_ id: Int64, _ connection: borrowing PGConnection) throws(PGError) -> JobHead? {
        var parameters = PGParameters()
        parameters.append(int64: id)
        let read = try connection.query(
            "select \(HeadColumn.selectList) from postrider.job_status s where s.id = $1", &parameters)
        guard read.rowCount > 0 else { return nil }
        let children = read.optionalInt64(0, HeadColumn.children)
        return JobHead(
            id: id, kind: read.text(0, HeadColumn.kind), state: read.text(0, HeadColumn.state),
            name: read.optionalText(0, HeadColumn.name), call: read.optionalText(0, HeadColumn.call),
            parent: read.optionalInt64(0, HeadColumn.parent), position: read.int32(0, HeadColumn.position),
            hasEnded: read.bool(0, HeadColumn.hasEnded),
            progress: children.map {
                ProgressBar(
                    ended: read.optionalInt64(0, HeadColumn.ended) ?? 0,
                    failed: read.optionalInt64(0, HeadColumn.failed) ?? 0, all: $0)
            })
    }

    var isRequest: Bool { kind == "request" }

    /// Whether `reschedule` accepts it: it waits for its time or its turn, and nothing of it was called yet.
    var canBeRescheduled: Bool {
        isRequest ? state == "ready" || state == "scheduled" : parent == nil && state == "scheduled"
    }

    /// The links to acts that fit its state.
    var actions: [ActionLink] {
        let target = [("id", "\(id)")]
        if hasEnded { return [ActionLink(act: "retry", label: "Retry", target: target)] }
        let cancel = ActionLink(act: "cancel", label: "Cancel", target: target)
        return canBeRescheduled
            ? [ActionLink(act: "reschedule", label: "Reschedule", target: target), cancel] : [cancel]
    }

    /// Adds the line with the state and the call.
    func write(to html: inout HTML) {
        html.element("p", ["class": "headline"]) { html in
            html.element("span", ["class": "state \(state)"], state)
            if let name { html.element("b", name) }
            html.element("code", call ?? kind)
            if let progress {
                progress.write(to: &html)
                html.element("span", ["class": "note"], progress.words)
            }
        }
    }
}
