// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import Glibc
internal import JobModel

/// `--trace`, and the variables of OpenTelemetry that name the collector.
struct TraceSettings: Equatable {
    var mode: TraceMode
    /// Where spans go; nil: no collector is named.
    var export: SpanExport?

    /// `--trace`.
    static let flag = Flag(
        name: "trace", kind: .choice(TraceMode.allCases.map(\.rawValue)), placeholder: "carried|always|off",
        example: "always", fallback: "carried",
        meaning: "continue traces that jobs carry, begin one for each job, or pass them on unchanged")

    /// Reads the flag and the variables `OTEL_…`.
    ///
    /// - Throws: `usage` for a value that cannot be used.
    init(_ arguments: Arguments) throws(CommandError) {
        let variables = Variables(environment: arguments.environment)
        mode = arguments.text(TraceSettings.flag.name).flatMap(TraceMode.init) ?? .carried
        if variables.text("OTEL_SDK_DISABLED")?.lowercased() == "true" { mode = .off }
        guard mode != .off, variables.text("OTEL_TRACES_EXPORTER") != "none", let url = try variables.tracesURL else {
            return
        }
        var resource = [
            "service.name": "postrider", "service.version": "\(ProductVersion.current)",
            "service.instance.id": "\(Host.name):\(getpid())", "telemetry.sdk.language": "swift",
            "telemetry.sdk.name": "postrider", "telemetry.sdk.version": "\(ProductVersion.current)",
        ]
        for (name, value) in try variables.pairs("OTEL_RESOURCE_ATTRIBUTES") { resource[name] = value }
        if let name = variables.text("OTEL_SERVICE_NAME") { resource["service.name"] = name }
        let headers = try variables.pairs(variables.exporter("HEADERS"))
        export = SpanExport(
            url: url, headers: headers.map { HTTPHeader($0.name, $0.value) }, timeout: try variables.timeout,
            compresses: variables.text(variables.exporter("COMPRESSION")) == "gzip", resource: resource)
    }

    /// The environment, as the specification of OpenTelemetry reads it: an empty variable counts as absent.
    private struct Variables {
        var environment: [String: String]

        func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

        /// The variable of the exporter for spans, otherwise the one for all signals.
        func exporter(_ setting: String) -> String {
            let special = "OTEL_EXPORTER_OTLP_TRACES_\(setting)"
            return text(special) == nil ? "OTEL_EXPORTER_OTLP_\(setting)" : special
        }

        /// The URL for spans. `/v1/traces` is appended to the endpoint of all signals only.
        var tracesURL: String? {
            get throws(CommandError) {
                let name = exporter("ENDPOINT")
                guard let url = text(name) else { return nil }
                let masked = MaskedURL(url)
                guard url.hasPrefix("http://") || url.hasPrefix("https://"), !masked.host.isEmpty else {
                    throw .usage(
                        name, "\(quoted(url)) is not an http or https URL", "give one like http://127.0.0.1:4318")
                }
                if name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" { return url }
                return url + (url.hasSuffix("/") ? "" : "/") + "v1/traces"
            }
        }

        /// The limit of a request, in milliseconds.
        var timeout: Duration {
            get throws(CommandError) {
                let name = exporter("TIMEOUT")
                guard let text = text(name) else { return .seconds(10) }
                guard let number = DurationText.wholeNumber(text), (1...3_600_000).contains(number) else {
                    throw .usage(name, "\(quoted(text)) is not a time in milliseconds", "give a number like 10000")
                }
                return .milliseconds(number)
            }
        }

        /// Pairs like `name=value,other=1`. Values may be percent-encoded. The error names no value, since headers may
        /// hold a login.
        func pairs(_ name: String) throws(CommandError) -> [(name: String, value: String)] {
            var pairs: [(name: String, value: String)] = []
            for part in (text(name) ?? "").split(separator: ",") {
                let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let key = Variables.trimmed(sides[0])
                if key.isEmpty && sides.count == 1 { continue }
                guard sides.count == 2, !key.isEmpty, let value = Variables.decoded(Variables.trimmed(sides[1])) else {
                    throw .usage(
                        name, "pair \(pairs.count + 1) is not of the form name=value",
                        "give pairs like key=value,other=1")
                }
                pairs.append((key, value))
            }
            return pairs
        }

        private static func trimmed(_ text: Substring) -> String {
            var text = text.drop { $0 == " " || $0 == "\t" }
            while text.last == " " || text.last == "\t" { text.removeLast() }
            return String(text)
        }

        /// The text without percent-encoding. Nil if it is no UTF-8.
        private static func decoded(_ text: String) -> String? {
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count >= 2,
                    let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                {
                    bytes.append(number)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(validating: bytes, as: UTF8.self)
        }
    }
}
