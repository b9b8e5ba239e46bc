// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The service's own code inside an answer, and the rows that give its meaning.
struct EnvelopeTests {
    private static let envelope = """
        {"code": "$.code", "success": [200, "ok", true], "token_expired": [801], "logged_out": [802], "message": "$.msg",
         "result": "$.data.result", "errors": {"301": "user_not_found", "801": "stale"}}
        """

    @Test(
        arguments: [
            (#"{"code":200}"#, nil, nil), (#"{"code":"200"}"#, nil, nil), (#"{"code":200.0}"#, nil, nil),
            (#"{"code":"ok"}"#, nil, nil),
            (#"{"code":true}"#, nil, nil),
            (#"{"code":801}"#, "token_expired", "stale: the answer says that the token has expired; log in again"),
            (#"{"code":"802","msg":"bye\nbye"}"#, "logged_out", "802: bye bye"),
            (#"{"code":301,"msg":"no such user"}"#, "envelope", "user_not_found: no such user"),
            (#"{"code":301.0,"msg":{"de":"nein"}}"#, "envelope", #"user_not_found: {"de": "nein"}"#),
            (#"{"code":999}"#, "envelope", "999: the answer's code is not a success"),
            (#"{"code":false,"msg":""}"#, "envelope", "false: the answer's code is not a success"),
            (#"{"code":""}"#, "envelope", ": the answer's code is not a success"),
            (#"{}"#, "envelope", "the answer has no code at $.code"),
            (#"{"code":null}"#, "envelope", "the answer has no code"),
            (#"{"code":{}}"#, "envelope", "the answer has no code"), (#"[]"#, "envelope", "the answer has no code"),
            (#""x""#, "envelope", "the answer has no code"),
            (#"{"data":{"result":1}}"#, "envelope", "the answer has no code"),
        ] as [(String, String?, String?)])
    func `the envelope's code decides the outcome, and its name or number begins the error`(
        json: String, code: String?, words: String?
    )
        throws
    {
        let row = try Self.database().query(
            "select o.code, o.error from postrider_internal.envelope_outcome($x$\(Self.envelope)$x$, $x$\(json)$x$) o")
        #expect(row.optionalText(0, 0) == code)
        if let words {
            #expect(row.optionalText(0, 1)?.hasPrefix(words) == true, "\(row.optionalText(0, 1) ?? "none")")
        } else {
            #expect(row.optionalText(0, 1) == nil)
        }
    }

    @Test func `an envelope error with a long message is shortened`() throws {
        let error = try Self.database().query(
            """
            select length(o.error)::bigint from postrider_internal.envelope_outcome($x$\(Self.envelope)$x$,
              jsonb_build_object('code', repeat('9', 100000), 'msg', repeat('x', 1000000))) o
            """)
        #expect(error.int64(0, 0) <= 602)
    }

    @Test(arguments: [
        ("[]", "$ must be an object"), ("{}", "$.code is missing"), (#"{"code":1}"#, "$.code is a number"),
        (#"{"code":"$.x ? ("}"#, "$.code is not a jsonpath"), (#"{"code":"$.x ? (@ > $y)"}"#, "$.code uses a variable"),
        (#"{"code":"$.x","message":"a b"}"#, "$.message is not a jsonpath"),
        (#"{"code":"$.x","result":[]}"#, "$.result is a array"),
        (#"{"code":"$.x","success":[]}"#, "$.success must be"), (#"{"code":"$.x","success":200}"#, "$.success must be"),
        (#"{"code":"$.x","success":[1,null]}"#, "$.success[1] is not a code"),
        (#"{"code":"$.x","token_expired":[[1]]}"#, "$.token_expired[0] is not a code"),
        (#"{"code":"$.x","success":[1],"logged_out":["1"]}"#, "$.logged_out[0] is also in another list"),
        (#"{"code":"$.x","errors":[]}"#, "$.errors must be"),
        (#"{"code":"$.x","errors":{"1":""}}"#, #"$.errors."1" is not a name"#),
        (#"{"code":"$.x","errors":{"1":2}}"#, #"$.errors."1" is not a name"#),
        (#"{"code":"$.x","codes":1}"#, "$.codes is not a key"),
        (#"{"code":"$.x","if_missing":"failure"}"#, "$.if_missing must be"),
        (#"{"code":"$.x","if_missing":null}"#, "$.if_missing must be"),
    ])
    func `an invalid envelope is refused with the JSON path and a hint`(envelope: String, words: String) throws {
        let row = try Self.database().query(
            "select d.reason, d.hint from postrider_internal.envelope_defect($x$\(envelope)$x$) d")
        #expect(row.optionalText(0, 0)?.hasPrefix(words) == true, "\(row.optionalText(0, 0) ?? "good")")
        #expect(row.optionalText(0, 1)?.isEmpty == false)
    }

    @Test(
        arguments: [
            (#"{"data": 1}"#, nil), (#"{"errcode": null}"#, nil), ("[]", nil), (#"{"errcode": 0}"#, nil),
            (#"{"errcode": 40001}"#, "token_expired"), (#"{"errcode": 7}"#, "envelope"),
            (#"{"errcode": {}}"#, "envelope"),
        ] as [(String, String?)])
    func `with if_missing set to success, an answer without a code is a success`(json: String, code: String?) throws {
        let envelope = #"{"code": "$.errcode", "success": [0], "if_missing": "success", "token_expired": [40001]}"#
        let row = try Self.database().query(
            "select o.code from postrider_internal.envelope_outcome('\(envelope)', '\(json)') o union all select d.reason from postrider_internal.envelope_defect('\(envelope)') d"
        )
        #expect(row.optionalText(0, 0) == code)
        #expect(row.optionalText(1, 0) == nil)
    }

    @Test func `a service with an invalid envelope is refused, and the error names the column`() throws {
        let connection = try Self.database()
        let error = try #require(throws: PGError.self) {
            try connection.execute("insert into postrider.services (name, envelope) values ('a', '{\"code\": 1}')")
        }
        #expect(error.sqlState?.category == "PR")
        #expect(error.column == "envelope")
        #expect(error.message.contains("$.code is a number and not a path"))
        #expect(error.hint?.isEmpty == false)
    }

    @Test func `a valid envelope and a null envelope are accepted`() throws {
        for envelope in ["$x$\(Self.envelope)$x$", #"'{"code":"$.code"}'"#, "null"] {
            let row = try Self.database().query(
                "select d.reason from postrider_internal.envelope_defect(\(envelope)) d")
            #expect(row.optionalText(0, 0) == nil)
        }
    }

    private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }
    private static func database() throws -> PGConnection { try PGConnection(made.get()) }
}
