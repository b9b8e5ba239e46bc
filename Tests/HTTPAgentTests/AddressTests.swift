// SPDX-License-Identifier: Apache-2.0
import CResolver
import Glibc
import HTTPAgent
import HostileTarget
import JobModel
import Testing

struct AddressTests {
    @Test(arguments: [
        "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
        "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    ])
    func `an address outside the public internet is classified as not public`(address: String) {
        #expect(unsafe cresolver_address_text_is_public(address) == 0)
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.1.1.1", "128.0.0.1",
        "169.253.1.1",
        "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.167.1.1", "198.17.1.1", "198.20.1.1", "223.255.255.255",
        "::ffff:8.8.8.8", "2606:4700::1111", "2001:4860:4860::8888", "2003::1", "fbff::1",
    ])
    func `an address of the public internet is classified as public`(address: String) {
        #expect(unsafe cresolver_address_text_is_public(address) == 1)
    }

    @Test(arguments: [("fe80::1", true), ("fe80::2", false), ("fe80::1%lo", false)])
    func `a link-local address matches only its own text without scope, and its own port`(host: String, isKnown: Bool) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(443).bigEndian
        address.sin6_scope_id = 1
        unsafe inet_pton(AF_INET6, "fe80::1", &address.sin6_addr)
        var storage = sockaddr_storage()
        unsafe memcpy(&storage, &address, MemoryLayout<sockaddr_in6>.size)
        let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        #expect(unsafe cresolver_address_is(&storage, length, host, 443) == isKnown)
        #expect(unsafe !cresolver_address_is(&storage, length, host, 444))
    }

    @Test(arguments: [
        "http://127.1", "http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://0", "http://localhost",
        "http://sub.localhost", "http://[::1]", "http://[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]", "http://[::]",
        "http://①②⑦.⓪.⓪.①", "http://%31%32%37.0.0.1", "http://example.com@127.0.0.1", "http://127.0.0.1#@example.com",
        "http://169.254.169.254", "HTTP://127.0.0.1",
    ])
    func `a private address is denied however its URL spells it`(url: String) throws {
        let failure = try AgentDriver().run(HTTPCall(url: url)).failure()
        #expect(failure.code == .deniedAddress, "\(failure)")
        #expect(failure.message.contains("allow_private_network of its service"), "\(failure)")
        #expect(failure.sent == .no)
    }

    @Test func `the error for a denied address names the setting that would allow it`() throws {
        let cases: [(HTTPCall.PrivateNetworkSwitch, String)] = [
            (.service, "allow_private_network of its service, or"),
            (.credential, "allow_private_network of the credential, or"),
            (.none, "start the worker with --allow-private"),
        ]
        for (setting, words) in cases {
            var call = HTTPCall(url: "http://127.0.0.1/")
            call.privateNetworkSwitch = setting
            let failure = try AgentDriver().run(call).failure()
            #expect(failure.code == .deniedAddress && failure.message.contains(words), "\(failure)")
        }
    }

    @Test func `a public-only call does not reuse an open connection to a private address`() throws {
        let driver = try AgentDriver()
        #expect(try driver.run(Hostile.call("/ok")).response().status == 200)
        let refused = try driver.run(HTTPCall(url: Hostile.server.url("/ok")))
        #expect(try refused.failure().code == .deniedAddress)
        #expect(try driver.run(Hostile.call("/ok")).reused)
    }
}
