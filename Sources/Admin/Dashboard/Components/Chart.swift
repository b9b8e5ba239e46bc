// SPDX-License-Identifier: Apache-2.0

/// A chart over time as SVG, with axes and units. Each place has a title with its values, and a hidden table holds all
/// values for screen readers.
struct Chart: Sendable {
    /// One line, or one kind of bars.
    struct Series: Sendable {
        let name: String
        /// The CSS class of its colour.
        let style: String
        /// One value for each place; nil: none.
        let values: [Double?]
    }

    /// How values are drawn.
    enum Kind: Sendable {
        /// Bars from 0. Later series cover earlier ones, so each is a part of the one before.
        case bars
        /// Lines of milliseconds on a logarithmic axis.
        case times
    }

    let title: String
    /// The unit of the vertical axis.
    let unit: String
    let kind: Kind
    /// The times of the places, oldest first, like `2026-01-31 18:00`.
    let places: [String]
    let series: [Series]
    /// Whether the horizontal axis has days; otherwise it has times of day.
    var showsDays = false
    /// Where the values come from.
    var note = ""

    private static let width = 480.0, height = 190.0
    private static let left = 52.0, right = 472.0, top = 24.0, bottom = 164.0

    /// Adds the chart.
    func write(to html: inout HTML) {
        html.element("figure", ["class": "chart"]) { html in
            html.element("figcaption") { html in
                html.element("b", title)
                for line in series {
                    html.element("span", ["class": "key \(line.style)"], line.name)
                }
            }
            let values = series.flatMap(\.values).compactMap(\.self)
            guard !values.isEmpty, values.contains(where: { $0 > 0 }) else {
                html.element("p", ["class": "empty"], "No job has ended within this time.")
                return
            }
            let scale = kind == .bars ? ChartScale(counts: values) : ChartScale(milliseconds: values)
            let viewBox = "0 0 \(Int(Chart.width)) \(Int(Chart.height))"
            html.element("svg", ["viewBox": viewBox, "role": "img", "aria-label": summary(scale)]) { html in
                drawAxes(scale, &html)
                switch kind {
                case .bars: drawBars(scale, &html)
                case .times: drawLines(scale, &html)
                }
                drawTitles(&html)
            }
            writeTable(scale, &html)
            if !note.isEmpty { html.element("p", ["class": "empty"], note) }
        }
    }

    // MARK: Drawing

    private var step: Double { (Chart.right - Chart.left) / Double(max(places.count, 1)) }

    private func x(_ place: Int) -> Double { Chart.left + (Double(place) + 0.5) * step }

    private func y(_ value: Double, _ scale: ChartScale) -> Double {
        Chart.bottom - scale.share(of: value) * (Chart.bottom - Chart.top)
    }

    /// A coordinate with one digit after the point.
    private static func digits(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    private func drawAxes(_ scale: ChartScale, _ html: inout HTML) {
        html.element("text", ["class": "unit", "x": "4", "y": "13"], unit)
        for tick in scale.ticks {
            let height = Chart.digits(y(tick.value, scale))
            html.element(
                "line",
                [
                    "class": "grid", "x1": Chart.digits(Chart.left), "x2": Chart.digits(Chart.right), "y1": height,
                    "y2": height,
                ], "")
            html.element(
                "text",
                ["class": "tick y", "x": "\(Int(Chart.left) - 6)", "y": Chart.digits(y(tick.value, scale) + 4)],
                tick.label)
        }
        // Six times fit even into a narrow window.
        let every = max(1, (places.count + 5) / 6)
        for place in stride(from: every / 2, to: places.count, by: every) {
            html.element(
                "text", ["class": "tick x", "x": Chart.digits(x(place)), "y": "\(Int(Chart.bottom) + 17)"],
                label(place))
        }
    }

    private func label(_ place: Int) -> String { String(places[place].dropFirst(showsDays ? 5 : 11).prefix(5)) }

    private func drawBars(_ scale: ChartScale, _ html: inout HTML) {
        for line in series {
            for (place, value) in line.values.enumerated() {
                guard let value, value > 0 else { continue }
                // A small value is visible, too.
                let height = max(1, Chart.bottom - y(value, scale))
                html.element(
                    "rect",
                    [
                        "class": line.style, "x": Chart.digits(x(place) - step * 0.4),
                        "y": Chart.digits(Chart.bottom - height), "width": Chart.digits(max(1, step * 0.8)),
                        "height": Chart.digits(height),
                    ], "")
            }
        }
    }

    private func drawLines(_ scale: ChartScale, _ html: inout HTML) {
        for line in series {
            var path = ""
            var isOpen = false
            for (place, value) in line.values.enumerated() {
                guard let value else {
                    isOpen = false
                    continue
                }
                path += "\(isOpen ? "L" : "M")\(Chart.digits(x(place))) \(Chart.digits(y(value, scale)))"
                // A point without neighbours is a short line.
                if !isOpen { path += "h1" }
                isOpen = true
            }
            html.element("path", ["class": "line \(line.style)", "d": path], "")
        }
    }

    /// A transparent bar at each place shows the title wherever the pointer is.
    private func drawTitles(_ html: inout HTML) {
        for place in places.indices {
            html.element(
                "rect",
                [
                    "class": "minute", "x": Chart.digits(x(place) - step / 2), "y": Chart.digits(Chart.top),
                    "width": Chart.digits(step), "height": Chart.digits(Chart.bottom - Chart.top),
                ]
            ) { html in
                html.element("title", "\(places[place]) UTC: \(words(place))")
            }
        }
    }

    // MARK: Words

    private func words(_ place: Int) -> String {
        let values = series.compactMap { line in line.values[place].map { "\(line.name) \(text($0))" } }
        return values.isEmpty ? "nothing" : values.joined(separator: ", ")
    }

    private func text(_ value: Double) -> String {
        kind == .bars ? ChartScale.short(value) : Span.words(value / 1000)
    }

    private func summary(_ scale: ChartScale) -> String {
        let most = series.map { line in
            "\(line.name) at most \(text(line.values.compactMap(\.self).max() ?? 0))"
        }
        return "\(title), \(unit): \(most.joined(separator: ", "))"
    }

    private func writeTable(_ scale: ChartScale, _ html: inout HTML) {
        html.element("table", ["class": "hidden"]) { html in
            html.element("caption", "\(title), \(unit)")
            html.element("tr") { html in
                html.element("th", "UTC")
                for line in series { html.element("th", line.name) }
            }
            for place in places.indices where series.contains(where: { $0.values[place] != nil }) {
                html.element("tr") { html in
                    html.element("th", places[place])
                    for line in series { html.element("td", line.values[place].map(text) ?? "") }
                }
            }
        }
    }
}
