// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The syntax of templates: which parts of a text are templates, and which templates are refused.
struct TemplateTextTests {
    /// A text, the first names of its templates, their parsed form, and the beginning of the refusal.
    struct Case: Sendable {
        var text: String
        var names = ""
        var paths = ""
        var reason: String?
    }

    static let cases: [Case] = [
        Case(text: ""),
        Case(text: "plain { text } }}"),
        Case(text: "/a/{{register.body.data.id}}", names: "register", paths: "register|body|data|id"),
        Case(text: "{{ a.status }}{{\ta.status\n}}", names: "a", paths: "a|status"),
        Case(text: "{{list.body[0].x}} {{list.body.0.x}}", names: "list", paths: "list|body|0|x"),
        Case(text: "{{b.body[-1]}}{{a.status}}", names: "a,b", paths: "a|status;b|body|-1"),
        Case(text: #"{{"my step".body["a.key"]}}"#, names: "my step", paths: "my step|body|a.key"),
        Case(text: "{{prev}}{{item.a}}{{fan.results}}", names: "fan,item,prev", paths: "fan|results;item|a;prev"),
        Case(text: "{{a-b_1.body.ü}}", names: "a-b_1", paths: "a-b_1|body|ü"),
        Case(text: "{{{{ literal"),
        Case(text: "{{{{literal}} {{a}}", names: "a", paths: "a"),
        Case(text: "{{{{{{a}}", names: "a", paths: "a"),
        Case(text: #"{"x":{{{a.body}}}}"#, names: "a", paths: "a|body"),
        Case(text: "{{a.body", reason: "holds a {{ without }}"),
        Case(text: "{{a}} {{b.body", names: "a", paths: "a", reason: "holds a {{ without }}"),
        Case(text: "{{a{b}}", reason: "holds a {{ without }}"),
        Case(text: "{{}}", paths: "?", reason: "holds an empty template"),
        Case(text: "{{  }}", paths: "?", reason: "holds an empty template"),
        Case(text: "{{a..b}}", paths: "?", reason: "holds a template that cannot be read: {{a..b}}"),
        Case(text: "{{a.}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: "{{.a}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: "{{a b}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: "{{a|upper}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: "{{$.a.body}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: "{{a[x]}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: "{{a[*]}}", paths: "?", reason: "holds a template that cannot be read"),
        Case(text: #"{{"a\"b"}}"#, paths: "?", reason: "holds a template that cannot be read"),
    ]

    @Test func `templates in a text are found, parsed or refused`() throws {
        let queue = try TestQueue()
        for test in Self.cases {
            var parameters = PGParameters()
            parameters.append(text: test.text)
            let row = try queue.connection.query(
                """
                select array_to_string(postrider_internal.template_names($1), ','),
                       (select coalesce(string_agg(coalesce(array_to_string(p, '|'), '?'), ';' order by p), '')
                          from postrider_internal.template_paths($1) p),
                       (postrider_internal.template_defect($1)).reason
                """, &parameters)
            #expect(row.optionalText(0, 0) == test.names, "\(test.text)")
            #expect(row.optionalText(0, 1) == test.paths, "\(test.text)")
            let reason = row.optionalText(0, 2)
            #expect(reason?.hasPrefix(test.reason ?? "-") ?? (test.reason == nil), "\(test.text): \(reason ?? "")")
        }
    }

    @Test func `a text with more than 1000 templates or a template over 2000 characters is refused`() throws {
        let queue = try TestQueue()
        #expect(
            try queue.text("select (postrider_internal.template_defect(repeat('{{a.status}}', 100000))).reason")
                == "holds more than 1000 templates")
        #expect(
            try queue.text("select (postrider_internal.template_defect(repeat('{{a.status}}', 1000))).reason") == nil)
        #expect(
            try queue.text("select (postrider_internal.template_defect('{{' || repeat('a', 3000) || '}}')).reason")
                == "holds a template of more than 2000 characters")
    }
}
