// SPDX-License-Identifier: Apache-2.0

/// A small chart in a cell of a table: bars of equal time steps, without axes. The part that failed is drawn over each bar.
struct Sparkline: Equatable {
    /// The counts of one time step.
    struct Step: Equatable {
        let ended: Int64
        let failed: Int64
    }

    let steps: [Step]

    private static let height = 18
    private static let pitch = 4

    /// Reads steps like `5:0 7:1`, oldest first. Nil for other texts.
    init?(_ text: String) {
        var steps: [Step] = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let ended = Int64(parts[0]), let failed = Int64(parts[1]), ended >= 0 else {
                return nil
            }
            steps.append(Step(ended: ended, failed: failed))
        }
        self.steps = steps
    }

    /// The sums in words.
    var words: String {
        let (ended, failed) = steps.reduce((Int64(0), Int64(0))) { ($0.0 + $1.ended, $0.1 + $1.failed) }
        return "\(Column.grouped("\(ended)")) ended" + (failed > 0 ? ", \(Column.grouped("\(failed)")) failed" : "")
    }

    /// Adds the bars.
    func write(to html: inout HTML) {
        let top = max(steps.map(\.ended).max() ?? 0, 1)
        html.element(
            "svg",
            [
                "class": "spark", "width": "\(steps.count * Sparkline.pitch)", "height": "\(Sparkline.height)",
                "role": "img", "aria-label": words,
            ]
        ) { html in
            html.element("title", words)
            for (place, step) in steps.enumerated() {
                bar("ended", step.ended, top, place, to: &html)
                bar("bad", min(step.failed, step.ended), top, place, to: &html)
            }
        }
    }

    private func bar(_ style: StaticString, _ count: Int64, _ top: Int64, _ place: Int, to html: inout HTML) {
        guard count > 0 else { return }
        // A single job stays visible next to thousands.
        let height = max(Int(Double(count) / Double(top) * Double(Sparkline.height)), 2)
        html.element(
            "rect",
            [
                "class": "\(style)", "x": "\(place * Sparkline.pitch)", "y": "\(Sparkline.height - height)",
                "width": "3", "height": "\(height)",
            ]
        ) { _ in }
    }
}
