// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The acts of admins in the dashboard, if `--http-actions` is on: the page `/act`.
///
/// A GET shows what would happen and changes nothing. A POST acts if it comes from the form of such a page.
final class Actions: Sendable {
    private let tokens = FormTokens()
    private let pages: ReadOnlyDatabase
    private let database: ActDatabase
    private let bulk: BulkRun
    private let report: @Sendable (AdminAction) -> Void

    /// The path of confirmation pages and forms.
    static let path = "/act"
    /// The page that shows the act on many jobs.
    static let progressPath = "/act?do=progress"

    private static let stopSubject = "do=stop"
    /// How often a page checks whether another reader has finished: 100 times in 1 s.
    private static let waits = 100

    /// - Parameters:
    ///   - settings: the database of acts, and the receiver of their log events.
    ///   - pages: the connection of the dashboard's pages.
    init(_ settings: ActionSettings, pages: ReadOnlyDatabase) {
        self.pages = pages
        database = ActDatabase(settings.database)
        bulk = BulkRun(settings.database, report: settings.report)
        report = settings.report
    }

    /// Stops an act on many jobs after its step.
    func stop() { bulk.stop() }

    /// The response to a request for `/act`. The gate has checked the login's token.
    func response(to request: AdminRequest) -> AdminResponse {
        guard let actor = AdminLogin(request.authorization) else {
            return ActPage.refusal(
                "The log names the person who acts. Log in with a user name of 1 to 100 visible characters.")
        }
        do throws(ActDefect) {
            if let form = request.form { return try act(request, form, actor) }
            return try confirmation(request, actor)
        } catch {
            return ActPage.message(400, "Bad field", "\(error.field): \(error.reason).")
        }
    }

    private func confirmation(_ request: AdminRequest, _ actor: AdminLogin) throws(ActDefect) -> AdminResponse {
        if request.arguments[Act.kindField] == "progress" {
            return BulkPage.response(
                bulk.progress, stopToken: tokens.issue(to: actor.name, for: Actions.stopSubject))
        }
        let act = try Act(request.arguments)
        do throws(PGError) {
            let preview = try pages.read(waits: Actions.waits) { connection throws(PGError) in
                try ActPreview(act, connection)
            }
            guard let preview else {
                return ActPage.message(503, "Database unavailable", "Earlier requests still wait for the database.")
            }
            let form = ActPage.Form(
                token: tokens.issue(to: actor.name, for: act.subject), back: RequestSource.page(before: request))
            return ActPage.confirmation(act, preview, form, isOtherRunning: bulk.progress?.isRunning == true)
        } catch {
            return ActPage.failure(error, field: "since or until", back: "/")
        }
    }

    /// Acts if the request comes from one of our forms. The checks that need no token come first.
    private func act(_ request: AdminRequest, _ form: [UInt8], _ actor: AdminLogin) throws(ActDefect) -> AdminResponse {
        if let reason = RequestSource.refusal(of: request) { return ActPage.refusal(reason) }
        let fields = try FormBody.decode(form)
        let token = fields[ActPage.tokenField] ?? ""
        let subject: String
        switch tokens.verdict(on: token, from: actor.name) {
        case .valid(let shown): subject = shown
        case .foreign: return ActPage.refusal("This form was made for another user. Open the page again.")
        case .unknown: return ActPage.refusal(Actions.usedForm)
        }
        let back = RequestSource.path(fields[ActPage.backField] ?? "/")
        if subject == Actions.stopSubject {
            guard tokens.take(token, from: actor.name) else { return ActPage.refusal(Actions.usedForm) }
            bulk.stop()
            return ActPage.redirect(to: Actions.progressPath)
        }
        let act = try Act(fields)
        guard act.subject == subject else {
            return ActPage.refusal("This form was made for another act. Open the page again.")
        }
        guard tokens.take(token, from: actor.name) else { return ActPage.refusal(Actions.usedForm) }
        if !act.selections.isEmpty {
            guard bulk.start(act, as: actor) else {
                return ActPage.message(
                    409, "Not done", "Another act on many jobs is under way. Wait for its end, or stop it.",
                    link: (Actions.progressPath, "Show it"))
            }
            return ActPage.redirect(to: Actions.progressPath)
        }
        return run(act, actor, back)
    }

    private static func reasonForNothing(_ act: Act) -> String {
        switch act.target {
        case .schedule: "No job was made: its last job has not ended, or an unfinished job has its dedupe_key."
        case .ticked: "None of the ticked jobs could take the act."
        default: "The job had ended before."
        }
    }

    private static let usedForm =
        "This form was used, is older than an hour, or is not from this worker. Open the page again."

    private func run(_ act: Act, _ actor: AdminLogin, _ back: String) -> AdminResponse {
        do throws(PGError) {
            let action = try database.run { connection throws(PGError) in try act.run(as: actor, connection) }
            guard let action else {
                return ActPage.message(409, "Nothing to do", Actions.reasonForNothing(act), link: (back, "Back"))
            }
            report(action)
            if case .ticked(let jobs) = act.target, action.count < jobs.ids.count {
                return ActPage.message(
                    200, "\(action.count) of \(jobs.ids.count) changed",
                    "The others could not take the act, or are members of a batch or chain that changed as a whole.",
                    link: (back, "Back"))
            }
            return ActPage.redirect(to: back)
        } catch {
            return ActPage.failure(error, field: act.timeField ?? Act.kindField, back: back)
        }
    }
}

/// The settings of `--http-actions`.
public struct ActionSettings: Sendable {
    /// The database of acts. Its login is a member of `postrider_admin`.
    let database: PGConnectionString
    /// Gets each act that was done.
    let report: @Sendable (AdminAction) -> Void

    /// Acts on this database, whose login has been checked.
    public init(database: PGConnectionString, report: @escaping @Sendable (AdminAction) -> Void) {
        self.database = database
        self.report = report
    }
}
