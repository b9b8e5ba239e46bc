// SPDX-License-Identifier: Apache-2.0

/// Rows of bars over one axis of time, as SVG. Each bar names its phase and its times when the pointer is over it.
///
/// A row has its own SVG without a view box and with positions in percent. So texts keep their shape at each width, and
/// no inline style is needed, which the Content-Security-Policy forbids.
struct Timeline {
    /// A part of a row.
    struct Bar: Equatable {
        /// The CSS class, which gives the colour.
        let kind: String
        /// Its name, as in the legend.
        let name: String
        /// Seconds from the start of the axis.
        let start: Double
        let end: Double
    }

    /// One line with its label, bars and length.
    struct Row: Equatable {
        let label: String
        /// The words behind the label, in the colour of a state; nil: none.
        var outcome: (words: String, isBad: Bool)?
        let bars: [Bar]

        static func == (a: Row, b: Row) -> Bool { a.label == b.label && a.bars == b.bars }
    }

    let rows: [Row]
    /// The description of the picture for screen readers.
    let title: String

    private var end: Double { max(rows.flatMap(\.bars).map(\.end).max() ?? 0, 1e-6) }

    /// Adds the picture with its legend and axis.
    func write(to html: inout HTML) {
        let scale = Timeline.ticks(end)
        let width = max(end, scale.last ?? 0)
        html.element("div", ["class": "timeline"]) { html in
            legend(to: &html)
            for row in rows {
                html.element("div", ["class": "row"]) { html in
                    html.element("p", ["class": "label"]) { html in
                        html.element("span", row.label)
                        if let outcome = row.outcome {
                            html.text(" ")
                            html.element("span", ["class": outcome.isBad ? "trouble" : "good"], outcome.words)
                        }
                        html.element(
                            "span", ["class": "length"], row.bars.isEmpty ? "no call" : Timeline.span(length(of: row)))
                    }
                    write(row, scale, width, to: &html)
                }
            }
            axis(scale, width, to: &html)
        }
    }

    private func length(of row: Row) -> Double { (row.bars.map(\.end).max() ?? 0) - (row.bars.map(\.start).min() ?? 0) }

    private func write(_ row: Row, _ scale: [Double], _ width: Double, to html: inout HTML) {
        let words = row.bars.map(Timeline.words).joined(separator: "; ")
        html.element("svg", ["class": "bars", "role": "img", "aria-label": "\(title), \(row.label): \(words)"]) {
            html in
            for tick in scale.dropFirst() {
                let place = Timeline.percent(tick / width)
                html.element("line", ["x1": place, "x2": place, "y1": "0", "y2": "100%"], "")
            }
            for bar in row.bars {
                let length = max(bar.end - bar.start, 0)
                html.element(
                    "rect",
                    [
                        "class": bar.kind, "x": Timeline.percent(bar.start / width), "y": "15%",
                        // A short phase stays visible.
                        "width": Timeline.percent(max(length / width, 0.003)), "height": "70%",
                    ]
                ) { $0.element("title", Timeline.words(for: bar)) }
            }
        }
    }

    private func axis(_ scale: [Double], _ width: Double, to html: inout HTML) {
        html.element("svg", ["class": "axis", "aria-hidden": "true"]) { html in
            for (index, tick) in scale.enumerated() {
                let place = tick / width
                let anchor = index == 0 ? "start" : place > 0.94 ? "end" : "middle"
                html.element(
                    "text", ["x": Timeline.percent(place), "y": "75%", "text-anchor": anchor],
                    tick == 0 ? "0" : Timeline.span(tick))
            }
        }
    }

    private func legend(to html: inout HTML) {
        var seen: [String] = []
        html.element("p", ["class": "legend"]) { html in
            for bar in rows.flatMap(\.bars) where !seen.contains(bar.name) {
                seen.append(bar.name)
                html.element("span", ["class": "key"]) { html in
                    html.element("span", ["class": "mark \(bar.kind)", "aria-hidden": "true"], "")
                    html.text(bar.name)
                }
            }
        }
    }

    private static func words(for bar: Bar) -> String {
        let place = bar.start > 0 ? ", from \(span(bar.start)) to \(span(bar.end))" : ""
        return "\(bar.name): \(span(bar.end - bar.start))\(place)"
    }

    /// A span of time. Below 10 ms it has two decimals, because a phase is often that short.
    static func span(_ seconds: Double) -> String {
        guard seconds > 0, seconds < 0.00995 else { return Span.words(seconds) }
        let hundredths = Int((seconds * 100_000).rounded())
        let rest = hundredths % 100
        let decimals = rest == 0 ? "" : rest % 10 == 0 ? ".\(rest / 10)" : rest < 10 ? ".0\(rest)" : ".\(rest)"
        return "\(hundredths / 100)\(decimals) ms"
    }

    /// A part of the width with three decimals.
    private static func percent(_ part: Double) -> String {
        "\((min(max(part, 0), 1) * 100_000).rounded() / 1000)%"
    }

    /// Three to six round times from 0 to about the end.
    static func ticks(_ end: Double) -> [Double] {
        guard end.isFinite, end > 0 else { return [0] }
        // Round steps of seconds, then of minutes, hours and days.
        let small = (-6...0).flatMap { power in [1.0, 2, 5].map { $0 * Timeline.power(of: power) } }
        let large = [10.0, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400]
        let step = (small + large).first { end / $0 <= 5 } ?? (end / 4 / 86400).rounded(.up) * 86400
        return (0...Int(end / step)).map { Double($0) * step }
    }

    private static func power(of exponent: Int) -> Double {
        (0..<exponent.magnitude).reduce(1.0) { value, _ in exponent < 0 ? value / 10 : value * 10 }
    }
}
