// SPDX-License-Identifier: Apache-2.0

/// One flag of a command: its name, what it takes, and the words that help prints.
struct Flag: Sendable {
    /// What may follow the name.
    enum Kind: Sendable {
        /// Nothing; in the environment `on` or `off`.
        case toggle
        /// A whole number within the range.
        case whole(ClosedRange<Int>)
        /// A duration within the range.
        case duration(ClosedRange<Duration>)
        /// A size of memory in bytes within the range.
        case size(ClosedRange<Int>)
        /// One of these words.
        case choice([String])
        /// Any text but the empty one.
        case text
    }

    /// Without the leading dashes.
    var name: String
    /// What it takes.
    var kind: Kind
    /// Stands for the value in help: `N`, `URL`.
    var placeholder = ""
    /// A value that is right, for error lines.
    var example = ""
    /// Whether it may be given several times; in the environment the values are separated by commas.
    var isRepeatable = false
    /// Whether it has no environment variable. A flag of one command is like this, because the environment of a worker
    /// must not change the commands that its operator types.
    var isOfLineOnly = false
    /// What happens without it, for help.
    var fallback: String?
    /// What it does: one line.
    var meaning: String

    /// The environment variable that stands in for the flag: `POSTRIDER_LOG_FORMAT`.
    var environmentName: String {
        "POSTRIDER_" + String(name.map { $0 == "-" ? "_" : Character($0.uppercased()) })
    }

    /// Checks one value. `place` is how the user gave it, `--drain` or `POSTRIDER_DRAIN`, for the error line.
    func check(_ value: String, place: String) throws(CommandError) {
        switch kind {
        case .toggle:
            if Flag.toggle(value) == nil {
                throw .usage(place, "\(quoted(value)) is neither on nor off", "give on or off")
            }
        case .whole(let range):
            guard let number = DurationText.wholeNumber(value) else {
                throw .usage(place, "\(quoted(value)) is not a whole number", right(range, place))
            }
            if !range.contains(number) { throw .usage(place, "\(number) is out of range", right(range, place)) }
        case .duration(let range):
            let bounds = "give \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
            let right = bounds + ", like \(like(place))"
            guard let duration = DurationText.parse(value) else {
                throw .usage(place, "\(quoted(value)) is not a duration (ms, s, m, h)", right)
            }
            if !range.contains(duration) { throw .usage(place, "\(quoted(value)) is out of range", right) }
        case .size(let range):
            let bounds = "give \(SizeText.format(range.lowerBound)) to \(SizeText.format(range.upperBound))"
            let right = bounds + ", like \(like(place))"
            guard let bytes = SizeText.parse(value) else {
                throw .usage(place, "\(quoted(value)) is not a size (bytes, KiB, MiB, GiB)", right)
            }
            if !range.contains(bytes) { throw .usage(place, "\(quoted(value)) is out of range", right) }
        case .choice(let words):
            if !words.contains(value) {
                throw .usage(place, "\(quoted(value)) is not known", "give one of \(words.joined(separator: ", "))")
            }
        case .text:
            if value.isEmpty { throw .usage(place, "the value is empty", "give one, like \(like(place))") }
        }
    }

    /// `--drain 30s`, or `POSTRIDER_DRAIN=30s` for a value that came from the environment.
    func like(_ place: String) -> String {
        place.hasPrefix("--") ? "--\(name) \(example)" : "\(environmentName)=\(example)"
    }

    private func right(_ range: ClosedRange<Int>, _ place: String) -> String {
        "give \(range.lowerBound) to \(range.upperBound), like \(like(place))"
    }

    /// The words an environment variable may hold for a toggle.
    static func toggle(_ value: String) -> Bool? {
        switch value.lowercased() {
        case "on", "1", "true", "yes": true
        case "off", "0", "false", "no": false
        default: nil
        }
    }
}

/// The value in quotes, cut and without control characters, so that an error stays one readable line. Of a URL only the
/// scheme is shown: behind it may stand a password.
func quoted(_ value: String) -> String {
    if let mark = value.firstRange(of: "://") { return quoted(String(value[..<mark.lowerBound]) + ":…") }
    let shown = value.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : String($0) }
    return "\"\(shown.joined())\(value.unicodeScalars.count > 60 ? "…" : "")\""
}
