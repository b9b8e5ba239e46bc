// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct CallReportsTests {
    private func call(_ job: Int64, _ phase: CallPhase = .firstByte, done: Int64 = 0) -> RunningCall {
        RunningCall(
            lease: Lease(track: 1, seq: job, fence: job + 100, jobID: job, attempt: 1), phase: phase, since: 5,
            done: done)
    }

    @Test func `a report contains only calls that changed or ended since the last report`() {
        var reports = CallReports()
        #expect(reports.report([]) == nil && !reports.isOpen)
        #expect(reports.report([call(1), call(2)])?.changed.count == 2 && reports.isOpen)
        #expect(reports.report([call(1), call(2)]) == nil)
        #expect(reports.report([call(1), call(2, .receive, done: 7)])?.changed == [call(2, .receive, done: 7)])
        let last = reports.report([call(2, .receive, done: 7)])
        #expect(last == .init(isWhole: false, changed: [], gone: [1]))
        #expect(reports.report([]) == .init(isWhole: false, changed: [], gone: [2]) && !reports.isOpen)
        #expect(reports.report([]) == nil)
    }

    @Test func `after a failed report, the next report replaces all reported calls`() {
        var reports = CallReports()
        reports.forget()
        #expect(!reports.isOpen, "nothing was ever written")
        _ = reports.report([call(1)])
        _ = reports.report([])
        reports.forget()
        #expect(reports.isOpen)
        #expect(reports.report([]) == .init(isWhole: true, changed: [], gone: []))
        _ = reports.report([call(1)])
        reports.forget()
        #expect(reports.report([call(1), call(3)]) == .init(isWhole: true, changed: [call(1), call(3)], gone: []))
        #expect(reports.report([call(1), call(3)]) == nil)
    }
}
