// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// How soon the next page is called once a page has been answered.
struct PagePaceTests {
    @Test func `an idle worker goes from page to page without waiting for its poll`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, request.path.hasSuffix("=200") ? "[]" : "[1]")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try queue.insert("url, paginate", "'\(target.url)/list', '{\"style\": \"page\", \"param\": \"page\"}'")
        try queue.waitUntilDone(60)
        let requests = target.requests.sorted { $0.arrivedAt < $1.arrivedAt }
        #expect(requests.count == 200)
        let gaps = zip(requests, requests.dropFirst()).map { before, after in
            after.arrivedAt - min(after.arrivedAt, before.endedAt ?? 0)
        }.sorted()
        let median = Double(gaps[gaps.count / 2]) / 1e6
        if Soak.isOn { print("page to page: p50 \(median) ms, p99 \(Double(gaps[gaps.count * 99 / 100]) / 1e6) ms") }
        // 3 ms on a quiet machine; a worker that waited for its poll would need 250 ms.
        #expect(median < (Soak.isOn ? 3 : 100), "p50 \(median) ms")
        _ = worker
    }
}
