// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin
@testable import Engine

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

    @Test func `a histogram is written with sums of its buckets, its sum and its count`() {
        var metrics = MetricsText()
        var histogram = Histogram([5_000, 1_000_000])
        for microseconds in [5_000, 5_001, 2_000_000] { histogram.observe(Int64(microseconds)) }
        metrics.family("a_seconds", .histogram, "One.")
        metrics.histogram("a_seconds", ["queue": "q"], histogram)
        #expect(
            metrics.text == """
                # HELP a_seconds One.
                # TYPE a_seconds histogram
                a_seconds_bucket{queue="q",le="0.005"} 1
                a_seconds_bucket{queue="q",le="1"} 2
                a_seconds_bucket{queue="q",le="+Inf"} 3
                a_seconds_sum{queue="q"} 2.010001
                a_seconds_count{queue="q"} 3

                """)
    }
}
