// SPDX-License-Identifier: Apache-2.0

/// Metrics in Prometheus' text format, version 0.0.4: families one after the other, each with its help and type.
struct MetricsText {
    /// What a family measures.
    enum Kind: String {
        /// Goes up and down.
        case gauge
        /// Only grows, from 0 at the worker's start.
        case counter
        /// Quantiles of what was seen; without a sum and a count.
        case summary
    }

    /// The Content-Type of the text.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// What was written so far; each line ends with a line feed.
    private(set) var text = ""

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// A sample of the family begun last.
    mutating func sample(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{"
            text += labels.map { "\($0.key)=\"\(MetricsText.escaped($0.value))\"" }.joined(separator: ",")
            text += "}"
        }
        text += " \(MetricsText.number(value))\n"
    }

    /// Puts the families of another text behind these.
    mutating func append(_ other: MetricsText) {
        text += other.text
    }

    /// A family of one sample.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        family(name, kind, help)
        sample(name, [:], value)
    }

    /// Whole numbers without a fraction, so that counts read as counts.
    private static func number(_ value: Double) -> String {
        value.rounded() == value && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    /// Backslash, quote and line feed are written as two characters.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
