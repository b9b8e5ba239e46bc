// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The page that shows how far an act on many jobs is, with its stop button.
enum BulkPage {
    static func response(_ progress: BulkRun.Progress?, stopToken: String) -> AdminResponse {
        Shell.page(title: "Act on many jobs", path: "", isLive: progress?.isRunning == true, acts: true) { html in
            guard let progress else {
                html.element("p", ["class": "empty"], "This worker has done none since it started.")
                return
            }
            html.element("p", ["class": "why"], sentence(progress))
            html.element("dl") { html in
                let facts = [
                    ("act", progress.act.kind.rawValue), ("by", progress.actor.name),
                    ("looked at", Column.grouped("\(progress.examined)")),
                    ("changed", Column.grouped("\(progress.changed)")),
                ]
                for (name, value) in facts {
                    html.element("dt", name)
                    html.element("dd", value)
                }
            }
            if progress.state == .running {
                html.element("form", ["class": "act", "method": "post", "action": Actions.path]) { html in
                    for field in [FormField(Act.kindField, "stop"), FormField(ActPage.tokenField, stopToken)] {
                        ActPage.hidden(field, to: &html)
                    }
                    html.element("button", ["class": "danger"], "Stop")
                }
            }
            html.element("section") { html in
                html.element("h2", "The same in SQL")
                html.element("pre", progress.act.statement)
            }
        }
    }

    private static func sentence(_ progress: BulkRun.Progress) -> String {
        switch progress.state {
        case .running: "It is under way, 500 jobs at a time."
        case .stopping: "It stops after the jobs that it changes now."
        case .stopped: "It was stopped. The jobs that it had changed stay changed."
        case .finished: "It is done. Jobs that could not take the act were left out."
        case .failed(let reason): "It ended early: \(reason). The jobs that it had changed stay changed."
        }
    }
}
