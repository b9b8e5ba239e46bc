// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The parts that pages are made of: charts, the bar of filters, links to acts, tables.
struct ComponentTests {
    private static func chart(_ kind: Chart.Kind, _ values: [Double?]) -> String {
        var html = HTML()
        Chart(
            title: "Wait", unit: "time", kind: kind, places: ["2026-01-31 18:00", "2026-01-31 18:01"],
            series: [.init(name: "p99", style: "p99", values: values)], note: "Estimated."
        ).write(to: &html)
        return html.markup
    }

    @Test(arguments: [
        ([3], ["0", "1", "2", "3"]), ([87], ["0", "50", "100"]), ([0.4], ["0", "0.1", "0.2", "0.3", "0.4"]),
        ([12_345], ["0", "5k", "10k", "15k"]), ([0], ["0", "0.05", "0.1"]),
    ])
    func `an axis of counts ends at a round number`(counts: [Double], labels: [String]) {
        let scale = ChartScale(counts: counts)
        #expect(scale.ticks.map(\.label) == labels)
        #expect(scale.share(of: 0) == 0 && scale.share(of: scale.ticks.last?.value ?? 0) == 1)
    }

    @Test(arguments: [
        ([3, 40], ["1 ms", "10 ms", "100 ms"]), ([0.02], ["0.01 ms", "0.1 ms"]),
        ([900, 61_000], ["100 ms", "1 s", "10 s", "100 s"]), ([10], ["10 ms", "100 ms"]),
    ])
    func `an axis of times has powers of ten`(times: [Double], labels: [String]) {
        let scale = ChartScale(milliseconds: times)
        #expect(scale.ticks.map(\.label) == labels)
        for (place, tick) in scale.ticks.enumerated() {
            let share = Double(place) / Double(scale.ticks.count - 1)
            #expect((scale.share(of: tick.value) - share).magnitude < 1e-9)
        }
    }

    @Test func `a chart has a title for each place, a unit, and a table with all values`() {
        for (kind, shown) in [(Chart.Kind.times, "2.0 s"), (.bars, "2k")] {
            let markup = Self.chart(kind, [2000, nil])
            #expect(markup.contains("<title>2026-01-31 18:00 UTC: p99 \(shown)</title>"), "\(markup)")
            #expect(markup.contains("<title>2026-01-31 18:01 UTC: nothing</title>"))
            #expect(markup.contains("<caption>Wait, time</caption>"))
            #expect(markup.contains("<th>2026-01-31 18:00</th><td>\(shown)</td>"))
            #expect(markup.contains(">18:00</text>") && markup.contains("class=\"unit\""))
            #expect(markup.contains("Estimated.") && !markup.contains("style="))
        }
        #expect(Self.chart(.times, [nil, nil]).contains("No job has ended within this time."))
    }

    @Test func `the bar of filters shows each set filter with a link to the page without it`() {
        var html = HTML()
        FilterBar(
            path: "/jobs",
            fields: [
                .init("state", "state", .choice(["ready", "failed"])), .init("queue", "queue"), .init("tag", "tag"),
            ],
            shown: 2, values: [("state", "failed"), ("tag", "a&b")]
        ).write(to: &html)
        for part in [
            #"<option selected="">failed</option>"#, #"<details open="">"#, #"name="tag" value="a&amp;b""#,
            #"<a href="/jobs?tag=a%26b" aria-label="without the filter state failed">state: failed"#,
            #"<a href="/jobs?state=failed""#, #"<a href="/jobs">no filter</a>"#,
        ] { #expect(html.markup.contains(part), "\(part) in \(html.markup)") }
    }

    @Test func `a field suggests names, and a name cannot break out of the list`() {
        var html = HTML()
        FilterBar(
            path: "/jobs", fields: [.init("lane", "lane"), .init("tag", "tag")], shown: 2, values: [],
            suggestions: SuggestedNames(["lane": ["a", #""><script>alert(1)</script>"#]])
        ).write(to: &html)
        for part in [
            #"<input name="lane" value="" list="names-lane"><datalist id="names-lane"><option value="a">"#,
            #"<option value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"></datalist>"#,
            #"<input name="tag" value="" autocomplete="off">"#,
        ] { #expect(html.markup.contains(part), "\(part) in \(html.markup)") }
    }

    @Test func `a list has a box for each job, one for all, and acts that fit`() {
        let table = ViewTable(
            title: "", columns: [Column("job", .job, "s.id"), Column("state", .state, "s.state")], source: "")
        func markup(_ rows: [[String?]]) -> String {
            var html = HTML()
            TickForm(jobs: rows, table).write(to: &html)
            return html.markup
        }
        let page = markup([["9", "failed"], ["8", "ready"]])
        for part in [
            #"<form class="ticks" action="/act">"#, #"value="9,8" data-all=""> all 2 on this page"#,
            #"<button name="do" value="retry">Retry ticked</button>"#, #"value="cancel""#, #"value="reschedule""#,
            #"<input type="checkbox" name="ids" value="8" aria-label="job 8, ready">"#,
        ] { #expect(page.contains(part), "\(part) in \(page)") }
        let ended = markup([["9", "failed"]])
        #expect(!ended.contains("cancel") && !ended.contains("data-all"), "\(ended)")
        #expect(!markup([["9", "expired"]]).contains("<form"))
    }

    @Test func `each cause that can be retried has a box, whose value holds its filters`() {
        let table = ViewTable(
            title: "", columns: [Column("lane", .text, "l"), Column("state", .state, "s")], source: "", limit: 3)
        let rows: [[String?]] = [["a,b", "failed"], ["c&d", "failed"], ["e", "expired"], ["cut", "failed"]]
        var html = HTML()
        TickForm(causes: rows, table) { row in
            row["state"] == "expired" ? nil : [("state", row["state"] ?? ""), ("lane", row["lane"] ?? "")]
        }.write(to: &html)
        for part in [
            #"name="causes" value="state=failed&amp;lane=a%2Cb" aria-label="state failed, lane a,b">"#,
            #"value="state=failed&amp;lane=a%2Cb,state=failed&amp;lane=c%26d" data-all=""> all 2 on this page"#,
            #"<td class="tick"></td><td"#, "The first 3 rows",
        ] { #expect(html.markup.contains(part), "\(part) in \(html.markup)") }
        #expect(html.markup.matches(of: /type="checkbox"/).count == 3 && !html.markup.contains("value=\"cancel\""))
    }

    @Test func `small bars keep single jobs visible, and name their sums`() throws {
        let bars = try #require(Sparkline("0:0 1000:0 1:1"))
        #expect(bars.words == "1001 ended, 1 failed")
        var html = HTML()
        bars.write(to: &html)
        #expect(html.markup.contains(#"role="img" aria-label="1001 ended, 1 failed""#), "\(html.markup)")
        #expect(html.markup.contains(#"<rect class="bad" x="8" y="16" width="3" height="2">"#), "\(html.markup)")
        #expect(html.markup.matches(of: /<rect/).count == 3)
        for text in ["x", "1", "1:2:3", "-1:0"] { #expect(Sparkline(text) == nil, "\(text)") }
    }

    @Test func `a link to an act leads to the page that confirms it`() {
        var html = HTML()
        html.actions([])
        #expect(html.markup.isEmpty)
        html.actions([ActionLink(act: "pause-queue", label: "pause", target: [("queue", "a b")])])
        #expect(html.markup == #"<p class="actions"><a href="/act?do=pause-queue&amp;queue=a%20b">pause</a></p>"#)
    }

    @Test func `an empty table shows a statement, and a row has its links`() {
        var table = ViewTable(
            title: "", columns: [Column("queue", .queue, "q"), Column("place", .hidden, "p")], source: "",
            empty: "Nothing.", example: "insert 'x'")
        var html = HTML()
        table.write([], to: &html)
        #expect(html.markup == #"<section><p class="empty">Nothing.</p><pre>insert &#39;x&#39;</pre></section>"#)
        html = HTML()
        table.links = { [.init("more", "/x?p=\($0["place"] ?? "")")] }
        table.write([["mail", "7"]], to: &html)
        #expect(html.markup.contains(#"<td class="links"><a href="/x?p=7">more</a>"#), "\(html.markup)")
        #expect(!html.markup.contains(">place<") && html.markup.contains(#"data-title="queue""#))
    }
}
