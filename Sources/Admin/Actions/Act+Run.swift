// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The result of an act, as `admin_log` and the worker's log record it.
public struct AdminAction: Equatable, Sendable {
    /// The user name of the login.
    public let actor: String
    /// The act, like `pause-lane`.
    public let action: String
    /// The object, a JSON object.
    public let target: String
    /// How many jobs or other objects changed.
    public let count: Int64
}

extension Act {
    /// Does an act on one object, or on the ticked jobs, and logs it, both in the current transaction.
    ///
    /// - Returns: the act for the log; nil if there was nothing to do.
    func run(as actor: AdminLogin, _ connection: borrowing PGConnection) throws(PGError) -> AdminAction? {
        var extra: [FormField] = []
        var count: Int64 = 1
        switch target {
        case .job(let id):
            guard try change(job: id, actor, connection) else { return nil }
        case .jobs, .causes: return nil
        case .ticked(let jobs):
            count = try jobs.change(self, actor, connection)
            guard count > 0 else { return nil }
        case .queue(let name):
            try call(kind == .pauseQueue ? "postrider.pause_queue($1)" : "postrider.resume_queue($1)", name, connection)
        case .lane(let name):
            if kind == .pauseLane {
                try pause(lane: name, actor, connection)
            } else {
                try call("postrider.resume_lane($1)", name, connection)
            }
        case .schedule(let name):
            var parameters = PGParameters()
            parameters.append(text: name)
            let job = try connection.query("select postrider.run_schedule($1) as value", &parameters)
                .optionalInt64(0, PGValueColumn.value)
            guard let job else { return nil }
            extra = [FormField("job", "\(job)")]
        case .server(let service, let environment, let position):
            var parameters = PGParameters()
            parameters.append(text: service)
            parameters.append(int32: position)
            parameters.append(text: environment)
            _ = try connection.query("select postrider.switch_server($1, $2, $3)", &parameters)
        case .credential(let name): try call("postrider.log_out($1)", name, connection)
        }
        let action = AdminAction(actor: actor.name, action: kind.rawValue, target: targetJSON(extra), count: count)
        _ = try action.record(connection)
        return action
    }

    /// False if the job had ended before.
    private func change(
        job id: Int64, _ actor: AdminLogin, _ connection: borrowing PGConnection
    ) throws(PGError) -> Bool {
        var parameters = PGParameters()
        parameters.append(int64: id)
        switch kind {
        case .cancel:
            parameters.append(text: actor.words)
            return try connection.query("select postrider_internal.cancel_as($1, $2) as value", &parameters)
                .bool(0, PGValueColumn.value)
        case .reschedule:
            parameters.append(text: time)
            _ = try connection.query("select postrider.reschedule($1, coalesce($2::timestamptz, now()))", &parameters)
        default: _ = try connection.query("select postrider.retry($1)", &parameters)
        }
        return true
    }

    private func pause(
        lane: String, _ actor: AdminLogin, _ connection: borrowing PGConnection
    ) throws(PGError) {
        var parameters = PGParameters()
        parameters.append(text: lane)
        parameters.append(text: time)
        parameters.append(text: actor.words)
        _ = try connection.query(
            "select postrider_internal.pause_lane_as($1, coalesce($2::timestamptz, 'infinity'), $3)", &parameters)
    }

    private func call(
        _ function: StaticString, _ name: String, _ connection: borrowing PGConnection
    ) throws(PGError) {
        var parameters = PGParameters()
        parameters.append(text: name)
        _ = try connection.query("select \(function)", &parameters)
    }
}

extension AdminAction {
    /// Adds the act to `admin_log`, or its count to a row that an earlier step of the act has added.
    ///
    /// - Returns: the id of the row.
    func record(_ connection: borrowing PGConnection, addingTo row: Int64? = nil) throws(PGError) -> Int64? {
        var parameters = PGParameters()
        parameters.append(text: actor)
        parameters.append(text: action)
        parameters.append(text: target)
        parameters.append(int64: count)
        parameters.append(int64: row)
        return try connection.query(
            "select postrider_internal.record_admin_action($1, $2, $3::jsonb, $4, $5) as value", &parameters
        ).optionalInt64(0, PGValueColumn.value)
    }
}
