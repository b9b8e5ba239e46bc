// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport

/// A random job with pages of two numbers each, the target's answers, and the job's possible outcomes.
struct PagedJob: CustomStringConvertible {
    /// The target's behaviour.
    enum Kind: String, CaseIterable {
        /// Each page is answered at once.
        case plain
        /// Some pages fail at first, with a 503 or a closed connection.
        case rough
        /// The second page has status 404 at first.
        case bad
        /// The job limits itself to three pages.
        case limit
    }

    /// The style of the pagination.
    enum Style: String, CaseIterable {
        case page, offset, cursor, link
    }

    let kind: Kind
    let style: Style
    let last: Int
    let stops: Bool
    let isPost: Bool
    private let number: Int
    private let lane: String
    var id: Int64 = 0

    init(number: Int, _ random: inout Randomness) {
        self.number = number
        kind = Kind.allCases[Int(random.number(0...3))]
        style = Style.allCases[Int(random.number(0...3))]
        last = Int(random.number(0...12))
        stops = random.chance(50)
        isPost = random.chance(30)
        lane = random.chance(20) ? "narrow" : "wide"
    }

    var path: String { "/\(kind)/\(style)/\(number)/\(last)" }

    var columns: String { "method, url, lane, paginate, max_attempts, backoff" }

    func values(_ target: String) -> String {
        let way =
            switch style {
            case .page: #""style": "page", "param": "page""#
            case .offset: #""style": "offset", "param": "offset""#
            case .cursor: #""style": "cursor", "param": "cursor", "next": "$.next""#
            case .link: #""style": "link""#
            }
        let limit = kind == .limit ? #", "max_pages": 3, "on_limit": "\#(stops ? "stop" : "fail")""# : ""
        return
            "'\(isPost ? "POST" : "GET")', '\(target + path)', '\(lane)', '{\(way), \"items\": \"$.list\"\(limit)}', 30, '{20 ms, 60 ms}'"
    }

    var description: String { "job \(id) \(path)\(stops ? " stops" : "")" }

    /// The answer to `/KIND/STYLE/N/LAST?…`.
    static func answer(_ request: TargetRequest) -> [TargetStep] {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        let steps = parts[0].split(separator: "/")
        guard steps.count == 4, let last = Int(steps[3]) else { return TargetStep.answer(400) }
        let place = (parts.count > 1 ? parts[1].split(separator: "=").last : nil).flatMap { Int($0) }
        let page = steps[1] == "offset" ? (place ?? 0) / 2 + 1 : place ?? 1
        if request.turn == 1 {
            if steps[0] == "bad", page == 2 { return TargetStep.answer(404) }
            if steps[0] == "rough", page % 3 == 1 { return page % 2 == 0 ? [.reset] : TargetStep.answer(503) }
        }
        let list = page > last ? "" : "\(page * 2 - 1), \(page * 2)"
        let hasMore = page < last
        let link = "Link: </\(steps.joined(separator: "/"))?p=\(page + 1)>; rel=\"next\""
        return [.pause(milliseconds: page * 7 % 20)]
            + TargetStep.answer(
                200, "{\"list\": [\(list)], \"next\": \(hasMore ? "\"\(page + 1)\"" : "null")}",
                headers: hasMore && steps[1] == "link" ? [link] : [])
    }

    /// The number of pages. If no answer names the next page, an empty page is the last one.
    private var total: Int { style == .page || style == .offset ? last + 1 : max(last, 1) }

    /// Each try of a page must have the same key, and each page another key.
    func keyDefects(_ calls: [TargetRequest]) -> [String] {
        let keys = Dictionary(grouping: calls, by: \.path).mapValues {
            Set($0.map { $0.header("idempotency-key") ?? "" })
        }
        let isUnique = Set(keys.values.compactMap(\.first)).count == keys.count
        return keys.filter { $0.value.count > 1 }.map { "\($0.key) had the keys \($0.value)" }
            + (isUnique ? [] : ["\(self): two pages had one key"])
    }

    /// The difference between the job's end and its allowed ends.
    func defect(
        state: String, code: String?, result: String?, pages: String, items: String?, isTouched: Bool, isLast: Bool
    ) -> String? {
        let count = pages.split(separator: ",").count
        if pages != (0..<count).map({ "\($0 + 1)" }).joined(separator: ",") { return "pages are missing" }
        let numbers = (0..<min(count, last) * 2).map { "\($0 + 1)" }
        if (items ?? "") != numbers.joined(separator: ",") { return "items are missing, or there twice" }
        // If a page fails for itself, the result is the answer of that page.
        if let result, code != "http_status", result != "[\(numbers.joined(separator: ", "))]" {
            return "the result is another list"
        }
        if state == "succeeded", result == nil { return "there is no result" }
        switch state {
        case "succeeded":
            if count == total || kind == .limit && stops && (isTouched ? count % 3 == 0 : count == 3) { return nil }
            return "it is not whole"
        case "failed":
            if kind == .limit, code == "page_limit" {
                return !stops && (isTouched || count == 3) ? nil : "that is not where its limit is"
            }
            return kind == .bad && count == 1 && !isLast ? nil : "it must not fail"
        case "cancelled":
            return isTouched && (!isLast || kind == .limit) ? nil : "nobody has cancelled it"
        default: return "that is no end"
        }
    }
}

extension TestQueue {
    /// Calls without a row in the attempts, by job.
    func unexplainedPages(_ target: TargetServer) throws -> [String] {
        // If a reused connection ends without an answer, the attempt goes on and the request is sent once more.
        let calls = Dictionary(grouping: target.requests.filter { !$0.path.hasPrefix("/rough/") }) {
            String($0.path.split(separator: "?")[0])
        }
        let rows = try rows(
            "select j.url, count(*)::text from postrider.attempts a join postrider.jobs j on j.id = a.job_id group by j.url"
        )
        let attempts = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", Int($0[1] ?? "") ?? 0) })
        return calls.filter { $0.value.count > attempts[target.url + $0.key] ?? 0 }.map {
            "\($0.key): \($0.value.count) calls, \(attempts[target.url + $0.key] ?? 0) attempts"
        }
    }
}
