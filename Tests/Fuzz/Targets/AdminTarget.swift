// SPDX-License-Identifier: Apache-2.0

@testable import Admin
@testable import JobModel

/// A request to the pages. The parts: path, host, authorization, referrer, origin, site, type, body, then arguments.
enum AdminTarget {
    private static let token = try? AdminToken("a token of 16 characters".split(separator: " ").joined(separator: "-"))
    private static let tokens = FormTokens()

    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        var request = AdminRequest(path: reader.text())
        request.host = reader.text()
        request.authorization = reader.text()
        request.referrer = reader.text()
        request.origin = reader.text()
        request.fetchSite = reader.text()
        request.contentType = reader.text()
        let form = reader.bytes()
        request.form = form
        let texts = reader.texts()
        for index in stride(from: 0, to: texts.count - 1, by: 2) { request.arguments[texts[index]] = texts[index + 1] }
        try check(request)
        guard let fields = try? FormBody.decode(form) else { return }
        for (name, value) in fields {
            try expect(!value.isEmpty && !value.utf8.contains(0) && !name.utf8.contains(0), "a field with a NUL")
            if TimeText.isValid(value) {
                try expect(value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "a time with other characters")
            }
        }
        _ = tokens.verdict(on: fields["token"] ?? "", from: "a")
        if let act = try? Act(fields) { try check(act) }
        for kind in [Act.Kind.cancel, .retry, .reschedule] { _ = try? JobSelection(fields, for: kind) }
    }

    private static func check(_ request: AdminRequest) throws(Finding) {
        _ = RequestSource.refusal(of: request)
        for path in [RequestSource.page(before: request), RequestSource.path(request.path)] {
            let bytes = Array(path.utf8)
            let isLocal = bytes.first == 0x2f && (bytes.count == 1 || bytes[1] != 0x2f && bytes[1] != 0x5c)
            try expect(isLocal && bytes.allSatisfy { (0x21...0x7e).contains($0) }, "a redirect leaves the server")
        }
        if let host = request.host, AdminGate(token: nil).refusal(of: request) == nil {
            // Each domain of the internet has a letter beyond the digits of hexadecimal numbers.
            let isNumeric = host.utf8.allSatisfy { "0123456789abcdefABCDEFxX.:[]%".utf8.contains($0) }
            try expect(
                isNumeric || host.lowercased().hasPrefix("localhost") || host.utf8.contains(0x25), "a name gets pages")
        }
        if let token, token.isShown(by: request.authorization) {
            try expect(request.authorization?.isEmpty == false, "no token opens the pages")
        }
        let filters = PageFilters(request)
        try expect(filters.values.count <= request.arguments.count, "more filters than arguments")
        for defect in PageFilters.defects(request) { try checkText(defect) }
        _ = filters.jobFilter(limit: 10)
        try checkText(request.path)
    }

    /// No text becomes markup.
    private static func checkText(_ text: String) throws(Finding) {
        var page = HTML()
        page.element("a", ["href": text], text)
        let bytes = Array(page.markup.utf8)
        let marks = bytes.count { $0 == 0x3c || $0 == 0x3e }
        try expect(marks == 4 && bytes.count { $0 == 0x22 } == 2, "a text becomes markup")
    }

    /// The statement of an act is shown to be copied.
    private static func check(_ act: Act) throws(Finding) {
        guard let skeleton = SQLLiteral.skeleton(act.statement) else {
            throw Finding(description: "a literal has no end")
        }
        try expect(skeleton.utf8.count { $0 == 0x3b } == 1 && skeleton.utf8.last == 0x3b, "more than one statement")
        try expect(skeleton.utf8.allSatisfy { $0 < 0x80 }, "the statement has words of the request")
    }
}
