// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The query of `ops/kubernetes/scaledobject.yaml`, by which the number of workers follows the age of the queue.
struct ScalingQueryTests {
    @Test func `the age for scaling leaves out paused queues and held lanes`() throws {
        let scaling = try PythonProgram.run("scripts/check_manifests.py", ["--query"])
        let queue = try TestQueue()
        let reader = try TestRole.reader.connect(queue)
        let isOld = "select (\(scaling)) > 0"
        #expect(try reader.query(isOld).bool(0, 0) == false)
        // Only the leader makes the lane's track, by which the view knows the lane.
        let worker = try RunningWorker(queue.database, ["--queue", "other"])
        defer { worker.kill() }
        try queue.insert("url, lane", "'http://127.0.0.1:9/', 'api'")
        try TestClock.wait(20, for: "an age") { try reader.query(isOld).bool(0, 0) }
        try queue.connection.execute("select postrider.pause_queue('default')")
        #expect(try reader.query(isOld).bool(0, 0) == false)
        try queue.connection.execute(
            "select postrider.resume_queue('default'); select postrider.pause_lane('api')")
        #expect(try reader.query(isOld).bool(0, 0) == false)
    }
}
