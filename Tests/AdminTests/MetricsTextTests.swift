// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

struct MetricsTextTests {
    @Test func `a metric family is written with help, type and samples`() {
        var metrics = MetricsText()
        metrics.single("a", .gauge, "One.", 1)
        metrics.family("b_total", .counter, "Two.")
        metrics.sample("b_total", ["queue": "default", "state": "failed"], 12_000_000_000)
        metrics.sample("b_total", ["queue": "a\\b\"c\nd", "state": "ä"], 0.25)
        #expect(
            metrics.text == """
                # HELP a One.
                # TYPE a gauge
                a 1
                # HELP b_total Two.
                # TYPE b_total counter
                b_total{queue="default",state="failed"} 12000000000
                b_total{queue="a\\\\b\\"c\\nd",state="ä"} 0.25

                """)
    }
}
