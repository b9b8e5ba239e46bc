// SPDX-License-Identifier: Apache-2.0
import CCurl
import Testing

@testable import HTTPAgent

/// The next step of a call after one of its sendings has ended.
///
/// Numbers of `CURLcode`: 0 success, 18 partial file, 23 write error, 28 timed out, 56 receive error, 61 bad encoding.
struct SendingEndTests {
    private func end(_ code: UInt32, _ status: Int, _ change: (inout SendingEnd) -> Void = { _ in }) -> SendingEnd {
        var end = SendingEnd(cause: .library(code), status: status, hasHeaders: true)
        change(&end)
        return end
    }

    private func step(_ end: SendingEnd, maxRedirects: Int = 5, isProxied: Bool = false) -> SendingEnd.Step {
        end.step(maxRedirects: maxRedirects, isProxied: isProxied)
    }

    @Test func `an answer counts if its headers and its announced end have arrived`() {
        #expect(step(end(0, 200)) == .answer)
        #expect(step(end(0, 500)) == .answer)
        #expect(step(end(0, 0) { $0.hasHeaders = false }) == .failure)
        #expect(step(end(0, 200) { $0.isCloseUnannounced = true }) == .failure)
        #expect(step(end(18, 200)) == .failure)
        #expect(step(SendingEnd(cause: .tooSlow, status: 200, hasHeaders: true)) == .failure)
    }

    @Test func `a redirect is followed even if its body is incomplete, unless time or memory has run out`() {
        let redirect = end(0, 302) { $0.hasLocation = true }
        #expect(step(redirect) == .redirect)
        #expect(step(redirect, maxRedirects: 0) == .answer)
        #expect(step(end(0, 302)) == .answer)
        #expect(step(end(0, 304) { $0.hasLocation = true }) == .answer)
        for code: UInt32 in [18, 56] { #expect(step(end(code, 302) { $0.hasLocation = true }) == .redirect) }
        #expect(step(end(28, 302) { $0.hasLocation = true }) == .failure)
        #expect(step(end(56, 302) { ($0.hasLocation, $0.lacksMemory) = (true, true) }) == .failure)
    }

    @Test func `a 407 through a proxy in plain text is the answer of the proxy`() {
        #expect(step(end(0, 407), isProxied: true) == .proxyRefusal)
        #expect(step(end(0, 407)) == .answer)
        #expect(step(end(0, 403), isProxied: true) == .answer)
    }

    @Test func `an answer is undecoded if only its encoding is broken`() {
        #expect(end(0, 200) { $0.codingDefect = CCURL_CODING_CUT }.isUndecoded)
        #expect(end(61, 200).isUndecoded)
        #expect(end(23, 200) { $0.codingDefect = CCURL_CODING_BROKEN }.isUndecoded)
        #expect(!end(23, 200) { $0.codingDefect = CCURL_CODING_CUT }.isUndecoded)
        #expect(!end(0, 200).isUndecoded)
        for change: (inout SendingEnd) -> Void in [
            { $0.lacksMemory = true }, { $0.isBodyTooLarge = true }, { $0.hasHeaders = false },
        ] {
            var broken = end(61, 200)
            change(&broken)
            #expect(!broken.isUndecoded)
        }
    }
}
