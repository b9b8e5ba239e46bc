// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Texts to take along: the request as a curl command, a job like this one as an INSERT, and the statement of each act.
struct JobCopies: Sendable {
    private let head: JobHead
    private let curl: String?
    private let insert: String?

    /// A longer INSERT is left out: 64 KiB. Metadata of 8 kB may be 14 MB as text.
    private static let longest = 65_536

    /// Reads the INSERT.
    ///
    /// - Parameter hasLargeBody: whether the INSERT is left out because of its size.
    init(
        _ head: JobHead, curl: String?, hasLargeBody: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) {
        self.head = head
        self.curl = curl
        guard head.isRequest, !hasLargeBody else {
            insert = nil
            return
        }
        var parameters = PGParameters()
        parameters.append(int64: head.id)
        insert = try connection.query(
            """
            select case when octet_length(i.statement) <= \(JobCopies.longest) then i.statement end as value
              from postrider_internal.job_insert(
                     $1, (select t.ticket from postrider_internal.tickets t where t.id = $1)) i (statement)
            """, &parameters
        ).optionalText(0, PGValueColumn.value)
    }

    /// The statement of each act that fits the state, each with its name.
    static func statements(_ head: JobHead) -> [(name: String, sql: String)] {
        let id = head.id
        var all: [(name: String, sql: String)] = []
        if head.hasEnded {
            all.append(("SQL: retry it", "select postrider.retry(\(id));"))
        } else {
            all.append(("SQL: cancel it", "select postrider.cancel(\(id));"))
            if head.canBeRescheduled {
                all.append(("SQL: run it now", "select postrider.reschedule(\(id), now());"))
                all.append(("SQL: run it later", "select postrider.reschedule(\(id), now() + interval '10 min');"))
            }
        }
        all.append(("SQL: why is it in its state?", "select postrider.explain(\(id));"))
        return all
    }

    /// Adds the section.
    func write(to html: inout HTML) {
        html.element("section", ["class": "copies"]) { html in
            html.element("h2", "Copy")
            if let curl {
                CodeBlock(
                    title: "curl command", text: curl,
                    note: curl.contains("$POSTRIDER_SECRET") || curl.contains("${POSTRIDER_SECRET")
                        ? "Secrets are variables of the shell: set them before you run it." : nil
                ).write(to: &html)
            }
            if let insert {
                let secrets = insert.contains("***") ? " Secrets are ***: replace them." : ""
                CodeBlock(
                    title: "INSERT of a job like this one", text: insert,
                    note: "It runs at once and stands alone: times, parent and dedupe key are left out.\(secrets)"
                ).write(to: &html)
            }
            html.element("div", ["class": "short"]) { html in
                for (name, sql) in JobCopies.statements(head) { CodeBlock(title: name, text: sql).write(to: &html) }
                CodeBlock(
                    title: "Command",
                    text: head.hasEnded
                        ? "worker retry \(head.id)" : "worker cancel \(head.id)\nworker watch \(head.id)"
                ).write(to: &html)
            }
        }
    }
}
