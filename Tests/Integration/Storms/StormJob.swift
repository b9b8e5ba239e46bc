// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A random request, the target's answers, and its allowed ends.
struct StormJob: CustomStringConvertible {
    /// The target's behaviour.
    enum Kind: String {
        /// Status 200.
        case good
        /// Status 404.
        case bad
        /// Status 503 at first, then 200.
        case flaky
        /// A closed connection at first, then 200.
        case torn
        /// Status 429 at first, then 200.
        case limited
        /// No answer.
        case hang
        /// Status 200 for one of a few paths that many jobs share. The answer may be cached for a moment.
        case cached
        /// Status 200 with the current token, otherwise 401.
        case locked
        /// Status 404 at first, which a rule repeats, then 200.
        case missing
        /// A limit inside a 200 at first, which a rule obeys, then 200.
        case crowded
        /// The answer of a stub; the target is not called.
        case stubbed
        /// Status 200 after a second, later after three. So the repeated call of a frozen worker's job is still under
        /// way when that worker goes on.
        case late
    }

    private static let services: [Kind: String] = [.locked: "locked", .stubbed: "stubs"]
    private static let rules: [Kind: String] = [
        .missing: #"'[{"status": 404, "do": "retry"}]'"#,
        .crowded: #"'[{"if": "$.body.busy == true", "do": "throttle", "wait": "$.body.wait"}]'"#,
    ]
    static let keys = (0...9).map { "k\($0)" }

    let kind: Kind
    let path: String
    let columns: String
    let values: String
    let tag: String
    var key: String?
    let isOnce: Bool
    let expires: Bool
    /// The id, after the INSERT.
    var id: Int64 = 0
    var wasCancelled = false
    /// The highest number of retries by users.
    var retries = 0

    init(number: Int, target: String, kind wanted: Kind? = nil, _ random: inout Randomness) {
        kind = wanted ?? Self.randomKind(&random)
        let pause = random.chance(30) ? random.number(5...150) : 0
        path = kind == .cached ? "/cached/30/\(random.number(0...4))" : "/\(kind)/\(pause)/\(number)"
        tag = "t\(random.number(0...9))"
        isOnce = [.good, .bad, .torn, .hang].contains(kind) && random.chance(20)
        expires = random.chance(8)
        key = random.chance(15) ? Self.keys[Int(random.number(0...9))] : nil
        let hasService = random.chance(25) || [.cached, .locked, .stubbed].contains(kind)
        let lane = kind == .limited || kind == .crowded ? "limited" : random.chance(15) ? "narrow" : "plain"
        var pairs = [
            ("method", random.chance(30) ? "'POST'" : "'GET'"), ("tag", "'\(tag)'"), ("lane", "'\(lane)'"),
            ("priority", "\(random.number(0...3))"), ("backoff", "'{20 ms, 60 ms}'"),
            ("url", hasService ? "'\(path)'" : "'\(target)\(path)'"),
            ("service", hasService ? "'\(Self.services[kind] ?? "api")'" : "null"),
            ("rules", Self.rules[kind] ?? "null"),
            // Enough attempts for the jobs that succeed, however many workers die.
            ("max_attempts", kind == .hang ? "2" : "30"), ("timeout", kind == .hang ? "'300 ms'" : "'60 s'"),
            ("delivery", isOnce ? "'at_most_once'" : "'at_least_once'"),
            ("run_at", random.chance(25) ? "now() + interval '\(random.number(1...300)) ms'" : "now()"),
            ("on_success", random.chance(10) ? "'note'" : "null"),
            ("validator", hasService && random.chance(40) ? "'{\"a\": \"number\"}'" : "null"),
            ("cache_ttl", kind == .cached ? "'100 ms'" : "null"),
            ("response_format", random.chance(20) ? "'json'" : "'raw'"),
        ]
        if expires { pairs.append(("expires_at", "now() + interval '\(random.number(301...1500)) ms'")) }
        keyed = random.chance(60) ? "'skip'" : "'error'"
        columns = pairs.map(\.0).joined(separator: ", ")
        values = pairs.map(\.1).joined(separator: ", ")
    }

    private let keyed: String

    private static func randomKind(_ random: inout Randomness) -> Kind {
        switch random.number(0...99) {
        case ..<32: .good
        case ..<35: .missing
        case ..<37: .crowded
        case ..<40: .stubbed
        case ..<50: .bad
        case ..<62: .flaky
        case ..<72: .torn
        case ..<74: .limited
        case ..<82: .hang
        case ..<90: .cached
        default: .locked
        }
    }

    /// The statement that inserts the job and returns its id.
    var insert: String {
        guard let key else { return "insert into postrider.jobs (\(columns)) values (\(values)) returning id" }
        return
            "insert into postrider.jobs (\(columns), dedupe_key, on_duplicate) values (\(values), '\(key)', \(keyed)) returning id"
    }

    var description: String {
        "job \(id) \(path)\(isOnce ? " at most once" : "")\(expires ? " expiring" : "")\(wasCancelled ? " cancelled" : "") retried \(retries)"
    }

    /// The difference between the job's end and its allowed ends.
    func defect(state: String, status: String?, code: String?, isFromCache: Bool, calls: [TargetRequest]) -> String? {
        if isOnce, calls.count > 1 + retries { return "called \(calls.count) times" }
        switch state {
        case "succeeded":
            if kind == .bad || kind == .hang { return "nothing can have succeeded" }
            if status != "200" { return "succeeded with \(status ?? "no status")" }
            if kind == .stubbed { return calls.isEmpty ? nil : "a stub was to answer" }
            if isFromCache { return kind == .cached ? nil : "it may not be cached" }
            return calls.contains { $0.endedAt != nil && !$0.isAborted } ? nil : "succeeded without an answer"
        case "failed":
            if kind == .bad { return status == "404" || expires ? nil : "failed without its answer" }
            if kind == .hang { return code == "timeout" || code == "lost_worker" || expires ? nil : "failed otherwise" }
            return expires ? nil : "must not fail"
        case "cancelled": return wasCancelled ? nil : "nobody has cancelled it"
        case "expired": return expires ? nil : "it has no end"
        case "unknown": return isOnce ? nil : "it may be sent again"
        default: return "that is no end"
        }
    }
}
