// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The pages of `/act`.
enum ActPage {
    /// The hidden fields of a form that do not belong to the act.
    struct Form {
        let token: String
        /// The path to return to.
        let back: String
    }

    static let tokenField = "token"
    static let backField = "back"

    /// The effect of the act, the number of jobs, the SQL statement that does the same, and the form.
    static func confirmation(
        _ act: Act, _ preview: ActPreview, _ form: Form, isOtherRunning: Bool
    ) -> AdminResponse {
        Shell.page(status: preview.status, title: preview.title, path: "", isLive: false, acts: true) { html in
            html.element("p", ["class": "why"], preview.sentence)
            if !preview.facts.isEmpty {
                html.element("dl") { html in
                    for fact in preview.facts {
                        html.element("dt", fact.name)
                        html.element("dd", fact.value)
                    }
                }
            }
            if isOtherRunning, !act.selections.isEmpty {
                html.element("p", ["class": "trouble"]) { html in
                    html.text("Another act on many jobs is under way. ")
                    html.element("a", ["href": Actions.progressPath], "Show it")
                }
            }
            if let button = preview.button { write(act, button, form, to: &html) }
            html.element("p", ["class": "actions"]) { html in
                html.element("a", ["href": form.back], preview.button == nil ? "Back" : "Change nothing, go back")
            }
            html.element("section") { html in
                html.element("h2", "The same in SQL")
                html.element("pre", act.statement)
            }
        }
    }

    private static func write(_ act: Act, _ button: String, _ form: Form, to html: inout HTML) {
        html.element("form", ["class": "act", "method": "post", "action": Actions.path]) { html in
            for field in act.fields + [FormField(tokenField, form.token), FormField(backField, form.back)] {
                hidden(field, to: &html)
            }
            if let field = act.timeField {
                html.element("p") { html in
                    html.element("label") { html in
                        html.text(act.kind == .reschedule ? "Run at (UTC) " : "Until (UTC) ")
                        html.open(
                            "input", ["type": "datetime-local", "name": field, "step": "1", "value": act.time ?? ""])
                    }
                    html.text(act.kind == .reschedule ? " Empty: now." : " Empty: until it is resumed.")
                }
            }
            html.element("button", ["class": "danger"], button)
        }
    }

    static func hidden(_ field: FormField, to html: inout HTML) {
        html.open("input", ["type": "hidden", "name": field.name, "value": field.value])
    }

    /// Back to a page after an act.
    static func redirect(to path: String) -> AdminResponse {
        AdminResponse(status: 303, body: "done; see \(path)\n", location: path)
    }

    /// A refused request.
    static func refusal(_ sentence: String) -> AdminResponse { message(403, "Refused", sentence) }

    /// A page with one sentence.
    static func message(
        _ status: UInt32, _ title: String, _ sentence: String, link: (path: String, label: String)? = nil
    ) -> AdminResponse {
        Shell.page(status: status, title: title, path: "", isLive: false, acts: true) { html in
            html.element("p", ["class": status < 400 ? "why" : "why trouble"], sentence)
            if let link {
                html.element("p", ["class": "actions"]) { $0.element("a", ["href": link.path], link.label) }
            }
        }
    }

    /// An act or a preview that the database refused.
    ///
    /// - Parameter field: the field that holds a time.
    static func failure(_ error: PGError, field: String, back: String) -> AdminResponse {
        if ["22007", "22008"].contains(error.sqlState?.rawValue) {
            return message(400, "Bad field", "\(field): \(error.message).", link: (back, "Back"))
        }
        let status: UInt32 =
            switch error.sqlState?.rawValue {
            case "PR001": 400
            case "PR003": 404
            case "PR004", "PR005", "PR014", "55P03", "23505": 409
            case "42501": 403
            default: error.code == .server ? 500 : 503
            }
        return message(status, "Not done", "Nothing was changed: \(reason(error)).", link: (back, "Back"))
    }

    /// The reason that readers may see. libpq's message about a lost connection names hosts and users.
    static func reason(_ error: PGError) -> String {
        switch error.code {
        case .server:
            // A hint of PR001 … ends with a full stop, which the sentence around it has.
            error.message + (error.hint.map { " (\($0.hasSuffix(".") ? String($0.dropLast()) : $0))" } ?? "")
        case .notReady: error.message
        default: "the database cannot be reached"
        }
    }
}
