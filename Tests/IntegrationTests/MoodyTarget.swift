// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport

/// A target that answers 200 until the test lets it fail. With `everyNth`, only each nth request fails.
final class MoodyTarget: Sendable {
    let target: TargetServer
    private let mood: Mood

    /// Fails with these steps from the start; nil lets it succeed.
    init(failing steps: [TargetStep]? = nil, everyNth: Int = 1) throws {
        let mood = Mood(steps, everyNth)
        target = try TargetServer { _ in mood.answer() }
        self.mood = mood
    }

    /// Fails with these steps from now on; nil lets it succeed.
    func fail(_ steps: [TargetStep]?) { mood.steps.withLock { $0 = steps } }

    /// The number of requests so far.
    var count: Int { target.requests.count }

    private final class Mood: Sendable {
        let steps: Mutex<[TargetStep]?>
        private let turn = Mutex(0)
        private let everyNth: Int

        init(_ steps: [TargetStep]?, _ everyNth: Int) {
            self.steps = Mutex(steps)
            self.everyNth = everyNth
        }

        func answer() -> [TargetStep] {
            let turn = turn.withLock { turn in
                turn += 1
                return turn
            }
            if turn % everyNth == 0, let steps = steps.withLock({ $0 }) { return steps }
            return TargetStep.answer(200)
        }
    }
}

extension TestQueue {
    /// Adds a service `api` with these servers at the positions from 1 on, and with more columns.
    func addService(_ urls: [String], coolDown: String = "10 min", columns: String = "", values: String = "") throws {
        try connection.execute(
            """
            insert into postrider.services (name, cool_down\(columns)) values ('api', '\(coolDown)'\(values));
            insert into postrider.servers (service, position, base_url)
            select 'api', n, u from unnest('{\(urls.joined(separator: ","))}'::text[]) with ordinality as s(u, n)
            """)
    }
}
