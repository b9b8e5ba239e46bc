// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

struct PGConnectionTests {
    @Test func `a value of every type comes back unchanged`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        var parameters = PGParameters()
        parameters.append(int16: -2)
        parameters.append(int32: -70_000)
        parameters.append(int64: Int64.min)
        parameters.append(bool: true)
        parameters.append(text: "Grüße, 世界")
        parameters.append(bytes: [0, 1, 255, 0])
        parameters.append(float8: -0.125)
        parameters.append(timestamp: PGTimestamp(microseconds: 1))
        parameters.append(inferred: "6f1c9e0a-0b6d-4c7e-9a55-3d2f7a1b0c4d")
        parameters.append(jsonb: #"{"a": 1}"#)
        parameters.appendNull(.int8)
        let result = try connection.query(
            "select $1::int2, $2::int4, $3::int8, $4::bool, $5::text, $6::bytea, $7::float8, $8::timestamptz, "
                + "$9::uuid, $10::jsonb, $11::int8, $8::timestamptz = '2000-01-01 00:00:00.000001+00'", &parameters)
        #expect(result.rowCount == 1)
        #expect(result.int16(0, 0) == -2)
        #expect(result.int32(0, 1) == -70_000)
        #expect(result.int64(0, 2) == Int64.min)
        #expect(result.bool(0, 3) == true)
        #expect(result.text(0, 4) == "Grüße, 世界")
        #expect(result.bytes(0, 5) == [0, 1, 255, 0])
        #expect(result.float8(0, 6) == -0.125)
        #expect(result.timestamp(0, 7).microseconds == 1)
        #expect(result.uuid(0, 8) == "6f1c9e0a-0b6d-4c7e-9a55-3d2f7a1b0c4d")
        #expect(result.jsonb(0, 9) == #"{"a": 1}"#)
        #expect(result.isNull(0, 10) == true)
        #expect(result.optionalInt64(0, 10) == nil)
        #expect(result.bool(0, 11) == true)
    }

    @Test(arguments: [nil, 5]) func `the error of a terminated session contains the server's reason`(
        answerSeconds: Int?
    ) throws {
        let string = try TestCluster.makeDatabase()
        let end = "select pg_terminate_backend(pg_backend_pid())"
        let why = "terminating connection due to administrator command"
        let script = try PGConnection(string, answerSeconds: answerSeconds)
        let ofScript = #expect(throws: PGError.self) { try script.execute("select 1; \(end)") }
        let statement = try PGConnection(string, answerSeconds: answerSeconds)
        let ofStatement = #expect(throws: PGError.self) { _ = try statement.query(end) }
        for error in [ofScript, ofStatement] {
            #expect(error?.code == .lost)
            #expect(error?.message.contains(why) == true, "\(String(describing: error))")
        }
    }
}
