// SPDX-License-Identifier: Apache-2.0

import Glibc
import PrivateCluster
import TestSupport
import Testing

@testable import Reactor

struct PollerTests {
    @Test func `a write by another thread ends the wait, and reading clears the readiness`() throws {
        let pipe = try Pipe()
        var poller = try Poller()
        try poller.add(pipe.readEnd, token: 7, read: true, write: false)
        let writer = BackgroundThread { _ = unsafe write(pipe.writeEnd, [1, 2, 3] as [UInt8], 3) }
        var ready: [PollerEvent] = []
        try poller.wait(timeoutNanoseconds: 10_000_000_000, into: &ready)
        #expect(ready == [PollerEvent(token: 7, readable: true, writable: false)])
        writer.join()
        var bytes: [UInt8] = [0, 0, 0]
        #expect(unsafe read(pipe.readEnd, &bytes, 3) == 3)
        try poller.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready.isEmpty)
    }

    @Test(arguments: [0, 1, 300_000, 2_500_000] as [UInt64])
    func `a wait is never shorter than its timeout`(nanoseconds: UInt64) throws {
        var poller = try Poller()
        var ready: [PollerEvent] = []
        for _ in 0..<10 {
            let start = MonotonicClock.now
            try poller.wait(timeoutNanoseconds: nanoseconds, into: &ready)
            #expect(MonotonicClock.now - start >= nanoseconds)
        }
    }

    @Test func `timeouts are rounded up to milliseconds, and a missing timeout waits without end`() {
        #expect(Poller.milliseconds(nil) == -1)
        #expect(Poller.milliseconds(0) == 0)
        #expect(Poller.milliseconds(1) == 1)
        #expect(Poller.milliseconds(1_000_000) == 1)
        #expect(Poller.milliseconds(1_000_001) == 2)
        #expect(Poller.milliseconds(.max) == CInt.max)
    }

    @Test func `the poller reports both ends of a pipe and the hang-up of the other end`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let reader = Descriptor(owning: ends[0])
        var writer: Descriptor? = Descriptor(owning: ends[1])
        var poller = try Poller()
        var ready: [PollerEvent] = []
        try poller.add(ends[0], token: 1, read: true, write: false)
        try poller.add(ends[1], token: 2, read: false, write: true)
        try poller.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready == [PollerEvent(token: 2, readable: false, writable: true)])
        try poller.set(ends[1], token: 2, read: false, write: false)
        try poller.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready.isEmpty)
        _ = writer.take()
        try poller.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready == [PollerEvent(token: 1, readable: true, writable: true, hangup: true)])
        poller.remove(reader.rawValue)
        poller.remove(reader.rawValue)
        try poller.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready.isEmpty)
    }

    @Test func `a descriptor reopened under the same number is registered again`() throws {
        var poller = try Poller()
        let first = try Pipe()
        let second = try Pipe()
        try poller.set(first.readEnd, token: 1, read: true, write: false)
        try poller.set(first.readEnd, token: 2, read: true, write: false)
        // A library may replace the file behind a descriptor: the number stays the same.
        dup2(second.readEnd, first.readEnd)
        _ = unsafe write(second.writeEnd, [1] as [UInt8], 1)
        var ready: [PollerEvent] = []
        try poller.set(first.readEnd, token: 3, read: true, write: false)
        try poller.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready == [PollerEvent(token: 3, readable: true, writable: false)])
    }

    @Test func `a descriptor that is not open is refused with EBADF`() throws {
        let poller = try Poller()
        var seen: ReactorError?
        do throws(ReactorError) { try poller.set(9999, token: 1, read: true, write: false) } catch { seen = error }
        #expect(seen == ReactorError("epoll_ctl", number: EBADF))
        #expect(seen?.description == "epoll_ctl: Bad file descriptor")
    }

    @Test func `a blocked signal is reported by the poller and read from the signal source`() throws {
        let (before, events, after) = try BackgroundThread.result {
            let source = try SignalSource([SIGTERM])
            var poller = try Poller()
            try poller.add(source.descriptor, token: 1, read: true, write: false)
            let before = source.read()
            pthread_kill(pthread_self(), SIGTERM)
            pthread_kill(pthread_self(), SIGTERM)
            var ready: [PollerEvent] = []
            try poller.wait(timeoutNanoseconds: 1_000_000_000, into: &ready)
            return (before, ready.count, source.read())
        }
        #expect(before == [])
        #expect(events == 1)
        #expect(after == [SIGTERM])
    }
}
