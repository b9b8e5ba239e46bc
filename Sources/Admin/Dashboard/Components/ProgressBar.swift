// SPDX-License-Identifier: Apache-2.0

/// How many members of a batch or chain have ended, and how many of them failed.
struct ProgressBar: Equatable {
    let ended: Int64
    let failed: Int64
    let all: Int64

    /// The counts in words.
    var words: String {
        "\(Column.grouped("\(ended)")) of \(Column.grouped("\(all)")) ended"
            + (failed > 0 ? ", \(Column.grouped("\(failed)")) failed" : "")
    }

    /// Adds the bar. Its words stand next to it.
    func write(to html: inout HTML) {
        let parts = [("ended", max(ended - failed, 0)), ("bad", failed)]
        html.element("svg", ["class": "progress", "role": "img", "aria-label": words]) { html in
            var start = 0.0
            for (kind, count) in parts where count > 0 && all > 0 {
                let width = min(Double(count) / Double(all), 1) * 100
                html.element(
                    "rect",
                    ["class": kind, "x": "\(start)%", "width": "\(max(width, 0.5))%", "y": "0", "height": "100%"]
                ) { $0.element("title", words) }
                start += width
            }
        }
    }
}
