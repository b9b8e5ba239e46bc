// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport

/// The target of `JobStorm`.
///
/// `/KIND/MS/N` waits MS milliseconds, then gives the answer of `StormJob.Kind`. N only distinguishes paths. `/token`
/// returns the current token.
final class StormTarget: Sendable {
    let server: TargetServer
    private let answers: Answers

    init() throws {
        let answers = Answers()
        server = try TargetServer { answers.answer($0) }
        self.answers = answers
    }

    /// Ends the token if a job has used it; `/token` then returns another one.
    ///
    /// Returns false if no job has used it. Then the token may still be on its way to the workers.
    func endToken() -> Bool {
        answers.token.withLock { token in
            guard token.isUsed else { return false }
            token = Token(number: token.number + 1)
            return true
        }
    }

    private struct Token {
        var number = 1
        var isUsed = false
        var text: String { "t\(number)" }
    }

    /// The answers and the current token. The closure of `server` captures them before `self` is complete.
    private final class Answers: Sendable {
        let token = Mutex(Token())

        func answer(_ request: TargetRequest) -> [TargetStep] {
            let token = token.withLock { token in
                if request.header("authorization") == "Bearer \(token.text)" { token.isUsed = true }
                return token.text
            }
            if request.path == "/token" {
                return [.pause(milliseconds: 50)]
                    + TargetStep.answer(200, #"{"access_token": "\#(token)", "token_type": "Bearer"}"#)
            }
            let parts = request.path.split(separator: "/")
            guard parts.count == 3, let kind = StormJob.Kind(rawValue: String(parts[0])) else {
                return TargetStep.answer(400)
            }
            let isFirst = request.turn == 1
            let answer: [TargetStep] =
                switch kind {
                case .hang: [.hang]
                case .late: [.pause(milliseconds: isFirst ? 1000 : 3000)] + TargetStep.answer(200, "{\"a\": 1}")
                // The number shows which answer is older.
                case .cached: TargetStep.answer(200, "{\"a\": 1, \"turn\": \(request.turn)}")
                case .bad: TargetStep.answer(404)
                case .flaky where isFirst: TargetStep.answer(503)
                case .limited where isFirst: TargetStep.answer(429)
                case .missing where isFirst: TargetStep.answer(404)
                case .crowded where isFirst: TargetStep.answer(200, #"{"busy": true, "wait": "200ms"}"#)
                case .torn where isFirst: [.reset]
                case .locked where request.header("authorization") != "Bearer \(token)": TargetStep.answer(401)
                default: TargetStep.answer(200, "{\"a\": 1}")
                }
            return [.pause(milliseconds: Int(parts[1]) ?? 0)] + answer
        }
    }
}
