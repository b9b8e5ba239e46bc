// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The addresses on which the worker may serve pages.
struct AdminAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1:9464", "127.0.0.1", 9464, true), ("127.8.0.1:1", "127.8.0.1", 1, true),
            ("[::1]:65535", "::1", 65535, true), ("0.0.0.0:80", "0.0.0.0", 80, false), ("[::]:80", "::", 80, false),
            ("10.0.0.1:9464", "10.0.0.1", 9464, false), ("[fe80::1]:80", "fe80::1", 80, false),
            ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, false),
        ] as [(String, String, UInt16, Bool)])
    func `a numeric address with a port is parsed, and loopback is recognised`(
        text: String, host: String, port: UInt16, isLoopback: Bool
    ) throws {
        let address = try AdminAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isLoopback == isLoopback)
        #expect(address.description == text)
    }

    @Test(arguments: [
        ("127.0.0.1", "it has no port"), ("127.0.0.1:", "its port is not a number from 1 to 65535"),
        ("127.0.0.1:0", "its port is not a number from 1 to 65535"),
        ("127.0.0.1:65536", "its port is not a number from 1 to 65535"),
        ("127.0.0.1:x", "its port is not a number from 1 to 65535"), ("::1:80", "an IPv6 address needs brackets"),
        (":80", "it does not begin with an IP address"),
        ("[]:80", "it does not begin with an IP address"),
        ("localhost:80", "it does not begin with an IP address"),
        ("256.0.0.1:80", "it does not begin with an IP address"),
        ("http://127.0.0.1:80", "an IPv6 address needs brackets"),
    ])
    func `an invalid address is refused with the reason`(text: String, reason: String) {
        #expect(throws: AdminError(reason: reason)) { try AdminAddress(text) }
    }
}
