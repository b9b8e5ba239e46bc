// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Reactor

/// Datagrams to a real socket of a service manager.
struct NotifySocketTests {
    @Test func `messages arrive at a path`() throws {
        let folder = try TestFolder()
        let listener = try NotifyListener(folder.path("notify"))
        let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": listener.address]))
        #expect(socket.send("READY=1\nSTATUS=Ready."))
        #expect(socket.send("WATCHDOG=1"))
        #expect(listener.messages == ["READY=1\nSTATUS=Ready.", "WATCHDOG=1"])
    }

    @Test func `messages arrive at an abstract address`() throws {
        let folder = try TestFolder()
        let listener = try NotifyListener("@" + folder.path.dropFirst())
        let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": listener.address]))
        #expect(socket.send("STOPPING=1"))
        #expect(listener.messages == ["STOPPING=1"])
    }

    @Test func `a full or missing socket refuses a message and blocks nothing`() throws {
        let folder = try TestFolder()
        let missing = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": folder.path("missing")]))
        #expect(!missing.send("READY=1"))
        let listener = try NotifyListener(folder.path("notify"))
        let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": listener.address]))
        // The kernel queues some messages, as net.unix.max_dgram_qlen or the receive buffer allows.
        var sent = 0
        while sent < 100_000, socket.send("WATCHDOG=1") { sent += 1 }
        #expect(sent > 0 && sent < 100_000)
        #expect(listener.messages.count == sent)
        #expect(socket.send("WATCHDOG=1"))
    }

    @Test(arguments: ["", "relative", "vsock:2:1234", "/" + String(repeating: "a", count: 107)])
    func `an address of another kind counts as no manager`(address: String) {
        #expect(NotifySocket(environment: ["NOTIFY_SOCKET": address]) == nil)
        #expect(NotifySocket(environment: [:]) == nil)
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "60000000"], 60_000_000_000),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"], 60_000_000_000),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"], nil),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "x"], nil),
            (["WATCHDOG_PID": "7"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "18446744073709551615"], nil),
        ] as [([String: String], UInt64?)])
    func `the watchdog's time holds for the process that WATCHDOG_PID names`(
        environment: [String: String], time: UInt64?
    ) {
        #expect(NotifySocket.watchdogTimeout(environment, process: 7) == time)
    }
}
