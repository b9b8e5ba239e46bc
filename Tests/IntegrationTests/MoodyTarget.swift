// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport

/// A target that answers 200 until it is told to fail; with `everyNth` only each nth request does.
final class MoodyTarget: Sendable {
    let target: TargetServer
    private let mood: Mood

    /// Fails with these steps from the start; nil: it is well.
    init(failing steps: [TargetStep]? = nil, everyNth: Int = 1) throws {
        let mood = Mood(steps, everyNth)
        target = try TargetServer { _ in mood.answer() }
        self.mood = mood
    }

    /// From now on it fails so; nil: it is well.
    func fail(_ steps: [TargetStep]?) { mood.steps.withLock { $0 = steps } }

    /// How many requests have come.
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
    /// A service `api` with these servers at the positions from 1 on; more columns as given.
    func addService(_ urls: [String], coolDown: String = "10 min", columns: String = "", values: String = "") throws {
        try connection.execute(
            """
            insert into postrider.services (name, cool_down\(columns)) values ('api', '\(coolDown)'\(values));
            insert into postrider.servers (service, position, base_url)
            select 'api', n, u from unnest('{\(urls.joined(separator: ","))}'::text[]) with ordinality as s(u, n)
            """)
    }
}
