// SPDX-License-Identifier: Apache-2.0

import Engine
import JobModel
import Testing

@testable import WorkerCLI

/// `--trace` and the variables of OpenTelemetry.
struct TraceSettingsTests {
    private func settings(_ words: [String], _ environment: [String: String]) throws(CommandError) -> TraceSettings {
        try TraceSettings(Arguments(words, for: RunCommand.spec, environment: environment))
    }

    @Test func `without a collector traces are continued and no spans are written`() throws {
        let settings = try settings([], [:])
        #expect(settings.mode == .carried)
        #expect(settings.export == nil)
        #expect(try self.settings(["--trace", "always"], [:]).mode == .always)
        #expect(try self.settings([], ["POSTRIDER_TRACE": "off"]).mode == .off)
    }

    @Test(arguments: [
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318"], "http://h:4318/v1/traces"),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318/"], "http://h:4318/v1/traces"),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "https://h/otlp"], "https://h/otlp/v1/traces"),
        (
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"],
            "http://t/x"
        ),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": ""], nil),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_SDK_DISABLED": "TRUE"], nil),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_TRACES_EXPORTER": "none"], nil),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "POSTRIDER_TRACE": "off"], nil),
    ])
    func `the URL for spans comes from the variables`(environment: [String: String], url: String?) throws {
        #expect(try settings([], environment).export?.url == url)
    }

    @Test func `headers, service and limits come from the variables`() throws {
        let export = try #require(
            try settings(
                [],
                [
                    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a=1, b = x%20y ,,c==",
                    "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
                    "OTEL_RESOURCE_ATTRIBUTES": "service.name=one,deployment.environment=test",
                    "OTEL_SERVICE_NAME": "two",
                ]
            ).export)
        #expect(export.headers == [HTTPHeader("a", "1"), HTTPHeader("b", "x y"), HTTPHeader("c", "=")])
        #expect(export.timeout == .milliseconds(2500))
        #expect(export.compresses)
        #expect(export.resource["service.name"] == "two")
        #expect(export.resource["deployment.environment"] == "test")
        #expect(try settings([], ["OTEL_SDK_DISABLED": "true"]).mode == .off)
    }

    @Test(arguments: [
        (
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "h:4318"],
            "OTEL_EXPORTER_OTLP_ENDPOINT: \"h:4318\" is not an http or https URL"
        ),
        (
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s"],
            "OTEL_EXPORTER_OTLP_TIMEOUT: \"10s\" is not a time in milliseconds"
        ),
        (
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a=1,secret"],
            "OTEL_EXPORTER_OTLP_HEADERS: pair 2 is not of the form name=value"
        ),
    ])
    func `a value that cannot be used ends the command`(environment: [String: String], expected: String) {
        let error = #expect(throws: CommandError.self) { try settings([], environment) }
        #expect(error?.exit == .usage)
        #expect(error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
    }
}
