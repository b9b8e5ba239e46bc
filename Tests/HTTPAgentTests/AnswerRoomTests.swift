// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// An answer waits until the agent gets memory for its body. Then it arrives complete.
struct AnswerRoomTests {
    /// Turns until an answer waits, and returns its need.
    private func wait(_ driver: AgentDriver) throws -> WaitingAnswer {
        let limit = TestClock.now + 20_000_000_000
        while !driver.agent.hasWaitingAnswers {
            try driver.turn(for: 50)
            _ = driver.agent.nextDeadline
            try #require(TestClock.now < limit, "no answer waits")
        }
        return try #require(driver.agent.waitingAnswers().first)
    }

    private func call(_ url: String, room: Int, limits: CallLimits = CallLimits(total: .seconds(20))) -> HTTPCall {
        var call = HTTPCall(url: url, limits: limits, allowsPrivateNetwork: true)
        call.answerRoom = room
        return call
    }

    @Test(arguments: [1, 1_000, 16_384, 100_000, 2_999_999])
    func `an answer with Content-Length waits for memory and then continues where it stopped`(room: Int) throws {
        let body = CodedServer.body
        let target = try TargetServer { _ in
            [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)]
        }
        let driver = try AgentDriver()
        driver.agent.start(call(target.url, room: room), slot: 3)
        let waiting = try wait(driver)
        #expect(waiting.slot == 3 && waiting.wanted == body.count)
        // The answer stays where it is.
        for _ in 0..<5 { try driver.turn(for: 20) }
        #expect(driver.agent.waitingAnswers() == [waiting])
        driver.agent.giveRoom(slot: 3, bytes: room + 1)
        if room + 1 < body.count {
            _ = try wait(driver)
            driver.agent.giveRoom(slot: 3, bytes: body.count)
        }
        let response = try driver.wait(for: 1)[0].outcome.response()
        #expect(response.body == body)
        #expect(!driver.agent.hasWaitingAnswers)
        // The connection can serve the next call.
        driver.agent.start(call(target.url, room: .max), slot: 0)
        #expect(try driver.wait(for: 1)[0].outcome.reused)
    }

    @Test(arguments: ["gzip", "deflate", "gzip, gzip"])
    func `a compressed answer waits for memory in mid-stream and then continues where it stopped`(coding: String) throws
    {
        let server = try CodedServer()
        let driver = try AgentDriver()
        driver.agent.start(call(server.url + "/" + coding.replacing(" ", with: "%20"), room: 16_384), slot: 0)
        var room = 16_384
        var waits = 0
        while true {
            let limit = TestClock.now + 20_000_000_000
            var finished: [FinishedCall] = []
            while !driver.agent.hasWaitingAnswers, finished.isEmpty {
                try driver.turn(for: 50)
                finished = driver.agent.takeFinished()
                try #require(TestClock.now < limit)
            }
            if let call = finished.first {
                #expect(try call.outcome.response().body == CodedServer.body)
                break
            }
            waits += 1
            let wanted = try #require(driver.agent.waitingAnswers().first).wanted
            #expect(wanted == 10 << 20)
            // The room grows in uneven steps, and at last it is enough for the whole answer.
            room = waits > 40 || coding.contains(",") ? wanted : room + 50_021
            driver.agent.giveRoom(slot: 0, bytes: room)
        }
        #expect(coding.contains(",") ? waits == 1 : waits > 30)
    }

    @Test func `waiting for memory does not count towards time limits, but a later stall does`() throws {
        let body = CodedServer.body
        let target = try TargetServer { request in
            let head = [UInt8]("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
            return request.path == "/stalls"
                ? [.send(head + body.prefix(1_000_000)), .hang] : [.send(head + body)]
        }
        let driver = try AgentDriver()
        let limits = CallLimits(total: .seconds(2), lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        driver.agent.start(call(target.url, room: 1_000, limits: limits), slot: 0)
        driver.agent.start(call(target.url + "/stalls", room: 1_000, limits: limits), slot: 1)
        let began = TestClock.now
        while TestClock.now < began + 4_000_000_000 {
            try driver.turn(for: 100)
            #expect(driver.agent.takeFinished().isEmpty)
        }
        for slot in 0...1 { driver.agent.giveRoom(slot: slot, bytes: body.count) }
        let ends = try driver.wait(for: 2).sorted { $0.slot < $1.slot }
        #expect(try ends[0].outcome.response().body == body)
        let failure = try ends[1].outcome.failure()
        #expect(failure.code == .slow || failure.code == .timeout, "\(failure)")
    }

    @Test func `a call that waits for memory can be cancelled, and an oversized answer fails`() throws {
        let body = CodedServer.body
        let target = try TargetServer { _ in
            [.send([UInt8]("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + body), .close]
        }
        let driver = try AgentDriver()
        driver.agent.start(call(target.url, room: 1_000), slot: 0)
        _ = try wait(driver)
        driver.agent.cancel(slot: 0)
        #expect(!driver.agent.hasWaitingAnswers)
        var bounded = call(
            target.url, room: 1_000, limits: CallLimits(total: .seconds(20), maxResponseBytes: 1_000_000))
        bounded.limits.isBoundByMemory = true
        driver.agent.start(bounded, slot: 0)
        #expect(try wait(driver).wanted == 1_000_000)
        driver.agent.giveRoom(slot: 0, bytes: 1_000_000)
        let failure = try driver.wait(for: 1)[0].outcome.failure()
        #expect(failure.code == .tooLarge && failure.message.contains("--memory"), "\(failure)")
    }

    @Test func `an answer also waits for memory after a redirect that drops the client certificate`() throws {
        let nginx = try NginxServer(firstPort: 22_060)
        let driver = try AgentDriver(caFile: nginx.caFile)
        var call = call("https://localhost:\(nginx.tlsPort)/away", room: 4)
        call.transport = Transport(certificateFile: nginx.client.certificate, keyFile: nginx.client.key)
        driver.agent.start(call, slot: 0)
        var waits = 0
        var finished: [FinishedCall] = []
        let limit = TestClock.now + 20_000_000_000
        while finished.isEmpty {
            try driver.turn(for: 20)
            finished = driver.agent.takeFinished()
            if driver.agent.hasWaitingAnswers {
                waits += 1
                driver.agent.giveRoom(slot: 0, bytes: 10_000)
            }
            try #require(TestClock.now < limit)
        }
        #expect(try finished[0].outcome.response().text == "127.0.0.1 ")
        // The page of the redirect has more than 4 bytes, too.
        #expect(waits == 2)
    }

    @Test func `one agent sends large, small and empty request bodies one after the other`() throws {
        let body = CodedServer.body
        let target = try TargetServer { request in TargetStep.answer(200, request.header("content-length") ?? "") }
        let driver = try AgentDriver()
        for count in [body.count, 70_000, 10, body.count, 0] {
            let outcome = try driver.run(
                HTTPCall(
                    method: .post, url: target.url, body: .bytes(Array(body.prefix(count)), contentType: nil),
                    limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true))
            #expect(try outcome.response().text == "\(count)")
        }
    }
}
