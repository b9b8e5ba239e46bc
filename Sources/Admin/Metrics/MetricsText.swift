// SPDX-License-Identifier: Apache-2.0

/// Metrics in Prometheus' text format, version 0.0.4. Each family has its help and type.
struct MetricsText {
    /// The type of a family.
    enum Kind: String {
        /// A value that rises and falls.
        case gauge
        /// A value that only grows, from 0 at the worker's start.
        case counter
        /// Quantiles of observations, without a sum and a count.
        case summary
    }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text so far. Each line ends with a line feed.
    private(set) var text = ""

    /// Begins a family. Its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample to the current family.
    mutating func sample(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{"
            text += labels.map { "\($0.key)=\"\(MetricsText.escaped($0.value))\"" }.joined(separator: ",")
            text += "}"
        }
        text += " \(MetricsText.number(value))\n"
    }

    /// Appends the families of another text.
    mutating func append(_ other: MetricsText) {
        text += other.text
    }

    /// Adds a family of one sample.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        family(name, kind, help)
        sample(name, [:], value)
    }

    /// Writes whole numbers without a fraction.
    private static func number(_ value: Double) -> String {
        value.rounded() == value && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    /// Escapes backslash, quote and line feed.
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
