// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The time from the answer of a page to the call of the next page.
struct PagePaceTests {
    @Test func `an idle worker goes from page to page without waiting for its poll`() throws {
        let target = try TargetServer { request in
            // A page with the same items as the previous one would end the job.
            TargetStep.answer(
                200, request.path.hasSuffix("=200") ? "[]" : "[\(request.path.split(separator: "=").last ?? "")]")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert("url, paginate", "'\(target.url)/list', '{\"style\": \"page\", \"param\": \"page\"}'")
        try queue.waitUntilDone(60)
        let requests = target.requests.sorted { $0.arrivedAt < $1.arrivedAt }
        #expect(requests.count == 200)
        let gaps = zip(requests, requests.dropFirst()).map { before, after in
            after.arrivedAt - min(after.arrivedAt, before.endedAt ?? 0)
        }.sorted()
        let median = Double(gaps[gaps.count / 2]) / 1e6
        // The time from INSERT to call of a plain job, on the same machine in the same minute.
        let single = try (1...50).map { number in
            let start = TestClock.now
            try queue.insert("url", "'\(target.url)/single/\(number)'")
            try queue.waitUntilDone()
            let request = try #require(target.requests.first { $0.path == "/single/\(number)" })
            return Double(request.arrivedAt - start) / 1e6
        }.sorted()[25]
        if Soak.isOn { print("page to page: p50 \(median) ms; INSERT to call: \(single) ms") }
        // A page takes 1 to 1.4 times as long, even while builds run. A worker that waited for its poll would need 250
        // ms.
        #expect(median < (Soak.isOn ? 3 : 40) * single, "\(median) ms, a single job \(single) ms")
    }
}
