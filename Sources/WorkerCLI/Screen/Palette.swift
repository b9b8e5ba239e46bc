// SPDX-License-Identifier: Apache-2.0

/// The colours of text on a terminal.
struct Palette: Sendable {
    /// A colour or weight. The raw value is the parameter of the escape sequence `m` (SGR).
    enum Colour: String, Sendable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    /// No colours.
    static let off = Palette(isOn: false)

    /// Whether text is coloured.
    let isOn: Bool

    init(isOn: Bool) { self.isOn = isOn }

    /// Colours are on if the stream is a terminal, and the environment has neither `NO_COLOR` nor `TERM=dumb`.
    ///
    /// An empty variable counts as absent (https://no-color.org).
    init(_ environment: [String: String], _ stream: Terminal.Stream = .output) {
        self.init(
            isOn: (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
                && Terminal.isTerminal(stream))
    }

    /// The text in the colour, if colours are on.
    func paint(_ text: String, _ colour: Colour?) -> String {
        guard isOn, let colour, !text.isEmpty else { return text }
        return "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m"
    }

    /// The colour of a state of a job, queue, lane, server, schedule or worker. Usual states have none.
    static func colour(ofState state: String) -> Colour? {
        switch state {
        case "failed", "unknown", "lost", "silent", "no worker", "all servers aside": .red
        case "paused", "pause", "expired", "draining", "failing", "off", "max_in_flight", "rate_limit": .yellow
        case "succeeded": .green
        case "cancelled", "skipped", "ended": .faint
        default: nil
        }
    }
}
