// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// Whether a POST comes from a page of this server.
struct RequestSourceTests {
    private static let form = "application/x-www-form-urlencoded"

    private func refusal(
        host: String? = "127.0.0.1:9464", origin: String? = nil, site: String? = nil, type: String? = form
    ) -> String? {
        RequestSource.refusal(
            of: AdminRequest(path: "/act", host: host, origin: origin, fetchSite: site, contentType: type, form: []))
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:9464", nil), ("http://127.0.0.1:9464", "same-origin"), (nil, "same-origin"),
            ("HTTP://127.0.0.1:9464", "same-origin"), ("https://127.0.0.1:9464", nil),
        ] as [(String?, String?)])
    func `a form of this server is accepted`(origin: String?, site: String?) {
        #expect(refusal(origin: origin, site: site) == nil)
    }

    @Test(
        arguments: [
            (nil, nil), ("null", nil), ("null", "same-origin"), ("http://evil.example", nil),
            ("http://evil.example", "same-origin"), ("http://127.0.0.1:9465", nil), ("http://127.0.0.1", nil),
            ("http://127.0.0.1:9464.evil.example", nil), ("http://evil.example/127.0.0.1:9464", nil), ("", nil),
            ("http://", nil), ("127.0.0.1:9464", nil), ("ftp://127.0.0.1:9464", nil),
            ("http://127.0.0.1:9464", "cross-site"), ("http://127.0.0.1:9464", "same-site"),
            ("http://127.0.0.1:9464", "none"), (nil, "cross-site"), (nil, "none"), (nil, ""),
            (nil, "same-origin, none"),
        ] as [(String?, String?)])
    func `another origin, and a request without one, is refused`(origin: String?, site: String?) {
        #expect(refusal(origin: origin, site: site) != nil)
    }

    @Test func `usual ports count as left out, and a missing Host is refused`() {
        #expect(refusal(host: "ops.example", origin: "https://ops.example") == nil)
        #expect(refusal(host: "ops.example:443", origin: "https://ops.example:443") == nil)
        #expect(refusal(host: "OPS.example", origin: "http://ops.example:80") == nil)
        #expect(refusal(host: nil, origin: "http://ops.example") != nil)
        #expect(refusal(host: "", origin: "http://") != nil)
        #expect(refusal(host: "evil.example", origin: "http://127.0.0.1:9464") != nil)
    }

    @Test(
        arguments: [
            ("application/x-www-form-urlencoded; charset=utf-8", true), ("APPLICATION/x-www-form-urlencoded", true),
            ("text/plain", false), ("multipart/form-data; boundary=x", false), ("application/json", false),
            (nil, false),
            ("", false), ("text/plain; application/x-www-form-urlencoded", false),
        ] as [(String?, Bool)])
    func `only the content type of forms is accepted`(type: String?, isAccepted: Bool) {
        #expect((refusal(site: "same-origin", type: type) == nil) == isAccepted)
    }

    @Test(arguments: [
        ("/jobs?state=failed", "/jobs?state=failed"), ("/", "/"), ("", "/"), ("//evil.example", "/"),
        ("/\\evil.example", "/"), ("http://evil.example/", "/"), ("jobs", "/"), ("/a b", "/"), ("/a\r\nX: y", "/"),
        ("/ü", "/"), ("/act", "/"), ("/act?do=cancel&id=1", "/"), ("/act?do=progress", "/act?do=progress"),
        ("/activity", "/activity"),
    ])
    func `only paths of this server are returned to`(text: String, path: String) {
        #expect(RequestSource.path(text) == path)
    }

    @Test func `the page with the link is known from Referer`() {
        func page(_ referrer: String?) -> String {
            RequestSource.page(before: AdminRequest(path: "/act", host: "h:1", referrer: referrer))
        }
        #expect(page("http://h:1/jobs?queue=a") == "/jobs?queue=a")
        #expect(page("http://h:1/jobs/5") == "/jobs/5")
        #expect(page("http://h:1") == "/")
        #expect(page("http://evil:1/jobs") == "/")
        #expect(page(nil) == "/")
    }
}
