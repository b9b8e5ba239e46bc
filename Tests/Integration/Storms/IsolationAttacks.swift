// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The attacks of the storm, except the restore. `IsolationStorm` restores, because a restore changes the victims'
/// expected results.
struct IsolationAttacks {
    let url: String
    let port: UInt16
    /// The part of a URL's host after the number. Each such name resolves to 127.0.0.1.
    let names: String

    /// Inserts stop above this many unfinished jobs of the attacker.
    private static let most = Soak.count(25_000, reduced: 3_000)
    private static let burst = Soak.count(20_000, reduced: 1_000)
    /// The number of expensive answers per second. In a soak, one keeps the judging sessions of both workers busy, each
    /// with a whole core.
    private static let few = Soak.count(1, reduced: 3)
    private static let expensive = "$[*] ? (exists($[*] ? (exists($[*] ? (@ == 3)))))"

    /// The limits of the attacker, as columns and values of `client_limits`.
    static func limits(_ round: Int) -> String {
        """
        insert into postrider.client_limits
          (role, max_unfinished, max_lanes, min_priority, max_priority, max_timeout, max_request_body, may_download)
        values ('\(TestRole.stranger.name)', \(3 * most + round % 2), \(10 * most), -100, 50, '10 min', 12000000, false)
        on conflict (role) do update set max_unfinished = excluded.max_unfinished
        """
    }

    var all: [IsolationAttack] { [locks, expressions, bodies, answers, hosts, lanes, failures] + clientLimits }

    /// Inserts `count` rows, unless the attacker has too many already.
    private static func insert(_ count: Int, _ columns: String, _ values: String) -> String {
        """
        insert into postrider.jobs (\(columns)) select \(values) from generate_series(1, \(count)) as i
         where (select unfinished from postrider.client_status where role = current_user) < \(most)
        """
    }

    /// A role without rights takes every lock of the server.
    private var locks: IsolationAttack {
        IsolationAttack(
            name: "locks", role: .nobody, pause: Soak.count(20_000, reduced: 1_500), takesServer: true
        ) { round in
            let seconds = Soak.isOn ? (round % 5 == 0 ? 35 : 10) : 1
            return """
                do $$ begin for i in 1..1000000 loop perform pg_advisory_lock(7, i); end loop;
                exception when out_of_memory then null; end $$;
                select pg_sleep(\(seconds)); select pg_advisory_unlock_all()
                """
        }
    }

    private var expressions: IsolationAttack {
        let url = url
        return IsolationAttack(name: "expressions", pause: 1_000) { round in
            let path = "'\(url)/numbers/\(round)/' || i"
            switch round % 3 {
            case 0: return Self.insert(Self.few, "url, extract, max_attempts", "\(path), '\(Self.expensive)', 1")
            case 1:
                let pages = #"{"style": "page", "param": "p", "items": "\#(Self.expensive)"}"#
                return Self.insert(Self.few, "url, paginate, max_attempts", "\(path), '\(pages)', 1")
            default:
                let body = "$.a.body[*]"
                return """
                    select postrider.submit('{"chain": [{"name": "a", "url": "\(url)/numbers/\(round)"}, {"url": "\(url)/next",
                      "run_if": "exists(\(body) ? (exists(\(body) ? (exists(\(body) ? (@ == 3))))))"}]}')
                    """
            }
        }
    }

    private var bodies: IsolationAttack {
        let url = url
        return IsolationAttack(name: "bodies", pause: 1_000) { round in
            Self.insert(
                1, "method, url, body, max_attempts",
                "'POST', '\(url)/body/\(round)/' || i, convert_to(repeat('x', 10000000), 'UTF8'), 1")
        }
    }

    private var answers: IsolationAttack {
        let url = url
        return IsolationAttack(name: "answers", pause: 1_000) { round in
            Self.insert(2, "url, max_attempts", "'\(url)/large/\(round)/' || i, 1")
        }
    }

    private var hosts: IsolationAttack {
        let (port, names) = (port, names)
        return IsolationAttack(name: "names", pause: 500) { round in
            Self.insert(10, "url, max_attempts", "format('http://n%s-\(round)\(names):\(port)/name', i), 1")
        }
    }

    /// A lane for each row: a few at all times, and sometimes many in one INSERT.
    private var lanes: IsolationAttack {
        let url = url
        return IsolationAttack(name: "lanes", pause: 1_000) { round in
            Self.insert(
                round % 60 == 2 ? Self.burst : 50, "url, lane, priority, max_attempts",
                "'\(url)/lane/\(round)/' || i, format('l%s-\(round)', i), -(i % 100), 1")
        }
    }

    private var failures: IsolationAttack {
        let url = url
        return IsolationAttack(name: "failures", pause: 1_000) { round in
            Self.insert(2, "url, max_attempts, backoff", "'\(url)/broken/\(round)/' || i, 2, '{1 s}'")
        }
    }

    /// An administrator changes limits, and the client inserts at its limits and beyond.
    private var clientLimits: [IsolationAttack] {
        let url = url
        let beyond = [
            "url, priority) select '\(url)/no', 51",
            "url, priority) select '\(url)/no', 0 union all select '\(url)/no', -101",
            "url, timeout) select '\(url)/no', '11 min'::interval",
            "url, method, body) select '\(url)/no', 'POST', convert_to(repeat('x', 12000001), 'UTF8')",
            "url, method, body_json) select '\(url)/no', 'POST', to_jsonb('1e130000'::numeric) || to_jsonb(repeat('x', 12000000))",
            "url, download_to, timeout) select '\(url)/no', 'a', '1 s'::interval",
            "url) select '\(url)/no' from generate_series(1, \(3 * Self.most + 2))",
        ]
        return [
            IsolationAttack(name: "limits", role: .admin, pause: 2_000, statement: Self.limits),
            IsolationAttack(name: "limits, allowed", pause: 500, expectation: .allowed) { round in
                """
                insert into postrider.jobs (url, priority, timeout, max_attempts)
                select '\(url)/allowed/\(round)/' || i, 50, '10 min', 1 from generate_series(1, 2) i
                """
            },
            IsolationAttack(
                name: "limits, refused", pause: Soak.count(1_000, reduced: 200), expectation: .refused
            ) { round in
                "insert into postrider.jobs (\(beyond[round % beyond.count])"
            },
        ]
    }
}
