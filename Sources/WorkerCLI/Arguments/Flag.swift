// SPDX-License-Identifier: Apache-2.0

/// One flag of a command: its name, its value, and its help.
struct Flag: Sendable {
    /// The kind of value after the name.
    enum Kind: Sendable {
        /// No value. In the environment it is `on` or `off`.
        case toggle
        /// A whole number within the range.
        case whole(ClosedRange<Int>)
        /// A duration within the range.
        case duration(ClosedRange<Duration>)
        /// A size of memory in bytes within the range.
        case size(ClosedRange<Int>)
        /// One of these words.
        case choice([String])
        /// Any text except the empty one.
        case text
    }

    /// The name, without the leading dashes.
    var name: String
    /// The kind of value.
    var kind: Kind
    /// The placeholder of the value in help, such as `N` or `URL`.
    var placeholder = ""
    /// A valid value, for error lines.
    var example = ""
    /// Whether it may be given several times. In the environment, commas separate the values.
    var isRepeatable = false
    /// Whether it can be given only on the command line, because no environment variable replaces it. This holds for
    /// flags of single commands: the environment of a worker must not change the commands that its operator types.
    var isCommandLineOnly = false
    /// The behaviour without it, for help.
    var fallback: String?
    /// Its effect, in one line.
    var meaning: String
    /// Values that shells propose, for a kind with other values too.
    var proposals: [String] = []

    /// The environment variable that replaces the flag, such as `POSTRIDER_LOG_FORMAT`.
    var environmentName: String {
        "POSTRIDER_" + String(name.map { $0 == "-" ? "_" : Character($0.uppercased()) })
    }

    /// Checks one value. `place` is its source for the error line, `--drain` or `POSTRIDER_DRAIN`.
    func check(_ value: String, place: String) throws(CommandError) {
        switch kind {
        case .toggle:
            if Flag.toggle(value) == nil {
                throw .usage(place, "\(quoted(value)) is neither on nor off", "give on or off")
            }
        case .whole(let range):
            guard let number = DurationText.wholeNumber(value) else {
                throw .usage(place, "\(quoted(value)) is not a whole number", remedy(range, place))
            }
            if !range.contains(number) { throw .usage(place, "\(number) is out of range", remedy(range, place)) }
        case .duration(let range):
            let bounds = "give \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
            let remedy = bounds + ", like \(like(place))"
            guard let duration = DurationText.parse(value) else {
                throw .usage(place, "\(quoted(value)) is not a duration (ms, s, m, h)", remedy)
            }
            if !range.contains(duration) { throw .usage(place, "\(quoted(value)) is out of range", remedy) }
        case .size(let range):
            let bounds = "give \(SizeText.format(range.lowerBound)) to \(SizeText.format(range.upperBound))"
            let remedy = bounds + ", like \(like(place))"
            guard let bytes = SizeText.parse(value) else {
                throw .usage(place, "\(quoted(value)) is not a size (bytes, KiB, MiB, GiB)", remedy)
            }
            if !range.contains(bytes) { throw .usage(place, "\(quoted(value)) is out of range", remedy) }
        case .choice(let words):
            if !words.contains(value) {
                throw .usage(place, "\(quoted(value)) is not known", "give one of \(words.joined(separator: ", "))")
            }
        case .text:
            if value.isEmpty { throw .usage(place, "the value is empty", "give one, like \(like(place))") }
        }
    }

    /// `--drain 30s`, or `POSTRIDER_DRAIN=30s` if the value came from the environment.
    func like(_ place: String) -> String {
        place.hasPrefix("--") ? "--\(name) \(example)" : "\(environmentName)=\(example)"
    }

    /// The remedy for a number outside of the range.
    private func remedy(_ range: ClosedRange<Int>, _ place: String) -> String {
        "give \(range.lowerBound) to \(range.upperBound), like \(like(place))"
    }

    /// The value of a toggle, such as `on` or `no`; nil for other words.
    static func toggle(_ value: String) -> Bool? {
        switch value.lowercased() {
        case "on", "1", "true", "yes": true
        case "off", "0", "false", "no": false
        default: nil
        }
    }
}

/// The value in quotes, shortened and without control characters, so that an error stays one readable line. Of a URL
/// only the scheme is shown, because a password may follow.
func quoted(_ value: String) -> String {
    if let mark = value.firstRange(of: "://") { return quoted(String(value[..<mark.lowerBound]) + ":…") }
    let shown = value.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : String($0) }
    return "\"\(shown.joined())\(value.unicodeScalars.count > 60 ? "…" : "")\""
}
