// SPDX-License-Identifier: Apache-2.0

internal import Engine

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
        /// Durations in buckets, which only grow.
        case histogram
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
        let texts = labels.map { "\($0.key)=\"\(MetricsText.escaped($0.value))\"" }
        line(name, texts.joined(separator: ","), value)
    }

    /// Adds the buckets, the sum and the count of a histogram to the current family.
    mutating func histogram(_ name: String, _ labels: KeyValuePairs<String, String>, _ histogram: Histogram) {
        let texts = labels.map { "\($0.key)=\"\(MetricsText.escaped($0.value))\"" }.joined(separator: ",")
        let start = texts.isEmpty ? "" : texts + ","
        var count = 0
        for (bucket, number) in histogram.counts.enumerated() {
            count += number
            let bound =
                bucket < histogram.bounds.count
                ? MetricsText.number(Double(histogram.bounds[bucket]) / 1_000_000) : "+Inf"
            line("\(name)_bucket", "\(start)le=\"\(bound)\"", Double(count))
        }
        line("\(name)_sum", texts, histogram.seconds)
        line("\(name)_count", texts, Double(count))
    }

    private mutating func line(_ name: String, _ labels: String, _ value: Double) {
        text += name
        if !labels.isEmpty { text += "{\(labels)}" }
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
