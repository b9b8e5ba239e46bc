// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// One act of an admin and its object, read from the arguments of `/act` or from the fields of its form. Pure.
struct Act: Equatable, Sendable {
    /// The names of acts in links, forms and the log.
    enum Kind: String, CaseIterable, Sendable {
        case retry, cancel, reschedule
        case pauseQueue = "pause-queue"
        case resumeQueue = "resume-queue"
        case pauseLane = "pause-lane"
        case resumeLane = "resume-lane"
        case runSchedule = "run-schedule"
        case switchServer = "switch-server"
        case logOut = "log-out"
    }

    /// The object.
    enum Target: Equatable, Sendable {
        case job(Int64)
        case jobs(JobSelection)
        case ticked(TickedJobs)
        case causes(TickedCauses)
        case queue(String)
        case lane(String)
        case schedule(String)
        case server(service: String, environment: String, position: Int32)
        case credential(String)
    }

    let kind: Kind
    let target: Target
    /// When the jobs run, or until when the lane is paused; nil: now, or without an end.
    let time: String?

    /// The argument with the name of the act.
    static let kindField = "do"

    /// Reads the arguments.
    ///
    /// - Throws: the defect of one of them.
    init(_ fields: [String: String]) throws(ActDefect) {
        guard let name = fields[Act.kindField], let kind = Kind(rawValue: name) else {
            throw ActDefect(
                Act.kindField, "must be one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.kind = kind
        func text(_ field: String) throws(ActDefect) -> String {
            guard let value = fields[field] else { throw ActDefect(field, "is missing") }
            return value
        }
        switch kind {
        case .retry, .cancel, .reschedule:
            if let text = fields["id"] {
                guard let id = Int64(text), id > 0 else { throw ActDefect("id", "is not the id of a job") }
                target = .job(id)
            } else if let ids = fields[TickedJobs.field] {
                target = .ticked(try TickedJobs(ids))
            } else if let causes = fields[TickedCauses.field] {
                target = .causes(try TickedCauses(causes, for: kind))
            } else {
                target = .jobs(try JobSelection(fields, for: kind))
            }
        case .pauseQueue, .resumeQueue: target = .queue(try text("queue"))
        case .pauseLane, .resumeLane: target = .lane(try text("lane"))
        case .runSchedule: target = .schedule(try text("schedule"))
        case .switchServer:
            guard let position = Int32(try text("position")) else { throw ActDefect("position", "is not a number") }
            target = .server(
                service: try text("service"), environment: try text("environment"), position: position)
        case .logOut: target = .credential(try text("credential"))
        }
        if let field = Act.timeField(kind), let value = fields[field] {
            time = try Act.time(value, field)
        } else {
            time = nil
        }
    }

    /// The field of the form with a time; nil if the act has none.
    var timeField: String? { Act.timeField(kind) }

    /// The arguments of `/act` for this act, without a time that the form asks for.
    var fields: [FormField] { [FormField(Act.kindField, kind.rawValue)] + targetFields }

    private var targetFields: [FormField] {
        switch target {
        case .job(let id): [FormField("id", "\(id)")]
        case .jobs(let selection): selection.fields
        case .ticked(let jobs): [FormField(TickedJobs.field, jobs.text)]
        case .causes(let causes): [FormField(TickedCauses.field, causes.text)]
        case .queue(let name): [FormField("queue", name)]
        case .lane(let name): [FormField("lane", name)]
        case .schedule(let name): [FormField("schedule", name)]
        case .server(let service, let environment, let position):
            [
                FormField("service", service), FormField("environment", environment),
                FormField("position", "\(position)"),
            ]
        case .credential(let name): [FormField("credential", name)]
        }
    }

    /// The act and its object in one text, to which a form token is bound.
    var subject: String { String(decoding: PercentEncoding.encode(fields, space: .percent), as: UTF8.self) }

    /// The object as a JSON object for `admin_log`.
    ///
    /// - Parameter extra: further members.
    func targetJSON(_ extra: [FormField] = []) -> String {
        let times = zip([timeField].compactMap(\.self), [time].compactMap(\.self)).map { FormField($0, $1) }
        if case .causes(let causes) = target {
            let objects = causes.selections.map { Act.json($0.fields) }
            return "{\(JSONText.quoted(TickedCauses.field)): [\(objects.joined(separator: ", "))]}"
        }
        return Act.json(targetFields + times + extra)
    }

    private static func json(_ fields: [FormField]) -> String {
        let members = fields.map { field in
            let value =
                switch field.name {
                case "id", "position", "job": field.value
                case "ids": "[\(field.value)]"
                default: JSONText.quoted(field.value)
                }
            return "\(JSONText.quoted(field.name)): \(value)"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private static func timeField(_ kind: Kind) -> String? {
        switch kind {
        case .reschedule: "run_at"
        case .pauseLane: "until"
        default: nil
        }
    }

    /// A time as PostgreSQL reads it: a date and a time of day, with seconds and a zone if given. Without a zone it is
    /// in UTC.
    private static func time(_ text: String, _ field: String) throws(ActDefect) -> String {
        guard TimeForm.fits(text) else { throw ActDefect(field, "is not a time like 2027-01-31T18:30 (UTC)") }
        return text
    }
}

extension Act.Kind {
    /// The act on jobs, as a title begins with it.
    var verb: String {
        switch self {
        case .cancel: "Cancel"
        case .retry: "Retry"
        default: "Reschedule"
        }
    }

    /// The effect of the act on many jobs.
    var effectOnMany: String {
        switch self {
        case .cancel:
            "They end as cancelled, and running calls are aborted. A batch or chain ends with its members."
        case .retry: "They run again, with max_attempts more attempts. A member runs again with its batch or chain."
        default: "They run at another time."
        }
    }
}

/// The form of a time, such as `2027-01-31T18:30` or `2027-01-31 18:30:00.5+01:00`. Whether the day exists is left to
/// PostgreSQL.
private struct TimeForm {
    private var rest: Substring.UTF8View

    static func fits(_ text: String) -> Bool {
        var form = TimeForm(rest: text[...].utf8)
        guard form.takes("dddd-dd-dd"), form.takes("T") || form.takes(" "), form.takes("dd:dd") else { return false }
        if form.takes(":dd"), form.takes(".d") {
            for _ in 1..<6 where !form.takes("d") { break }
        }
        if !form.takes("Z"), form.takes("+dd") || form.takes("-dd") { _ = form.takes(":dd") }
        return form.rest.isEmpty
    }

    /// Takes characters from the front if they fit: `d` stands for a digit.
    private mutating func takes(_ pattern: String) -> Bool {
        let front = rest.prefix(pattern.utf8.count)
        let fits = zip(front, pattern.utf8).allSatisfy { byte, wanted in
            wanted == UInt8(ascii: "d") ? (0x30...0x39).contains(byte) : byte == wanted
        }
        guard fits, front.count == pattern.utf8.count else { return false }
        rest = rest[front.endIndex...]
        return true
    }
}
