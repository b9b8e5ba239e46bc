// SPDX-License-Identifier: Apache-2.0

import Glibc
import JobModel
import Testing

@testable import HTTPAgent

/// The failures that the worker itself causes, and which therefore do not count against a server.
struct LocalFailureTests {
    private func isLocal(_ evidence: Evidence) -> Bool {
        FailureTable.failure(for: evidence, host: "h", limits: .standard).isLocal
    }

    /// Numbers of `CURLcode`: 6 could not resolve, 7 could not connect, 28 timed out, 45 interface failed, 60
    /// certificate.
    @Test func `a missing network, port, descriptor or interface is a local failure, unlike a refused connection`() {
        for error in [ENETUNREACH, ENETDOWN, EADDRNOTAVAIL] {
            #expect(isLocal(Evidence(end: .library(7), osError: error)))
        }
        for error in [ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT, 0] {
            #expect(!isLocal(Evidence(end: .library(7), osError: error)))
        }
        #expect(isLocal(Evidence(end: .library(45))))
        #expect(isLocal(Evidence(end: .library(7), outOfDescriptors: true)))
        for code: UInt32 in [6, 28, 60] { #expect(!isLocal(Evidence(end: .library(code), osError: ENETUNREACH))) }
        #expect(!isLocal(Evidence(end: .tooSlow)))
        #expect(!isLocal(Evidence(end: .firstByteLate)))
    }
}
