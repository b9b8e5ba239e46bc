// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Checks the lines of a call's cookie jar.
///
/// libcurl takes commands through the same option (`FLUSH`, `RELOAD`, `ALL`). And it would send a cookie without a
/// domain to every host.
enum CookieLines {
    /// Throws `config` for a line that is neither in Netscape's format nor a Set-Cookie with a Domain.
    static func check(_ lines: [String]) throws(CallRefusal) {
        for (index, line) in lines.enumerated() {
            guard !line.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else {
                throw refusal(index, "it holds a control character")
            }
            // By bytes, as libcurl compares: a combining mark behind the colon makes no other line of it.
            if String(decoding: line.utf8.prefix(11), as: UTF8.self).lowercased() == "set-cookie:" {
                let attributes = line.utf8.dropFirst(11).split(separator: UInt8(ascii: ";")).dropFirst()
                let hasDomain = attributes.contains { attribute in
                    let pair = attribute.split(separator: UInt8(ascii: "="), maxSplits: 1).map {
                        Substring(String(decoding: $0, as: UTF8.self)).trimmingSpaces()
                    }
                    return pair.count == 2 && pair[0].lowercased() == "domain" && !pair[1].isEmpty
                }
                if !hasDomain { throw refusal(index, "it names no Domain") }
            } else {
                // Fields: domain, subdomains, path, secure, expires, name, value.
                let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
                guard fields.count == 7, !fields[0].isEmpty, fields[0] != "unknown", !fields[0].hasPrefix("# ") else {
                    throw refusal(index, "it is neither Netscape's seven fields nor a Set-Cookie")
                }
            }
        }
    }

    /// Whether a Netscape line has expired. 0 marks a cookie without an expiry.
    static func hasExpired(_ line: String, now: Int64) -> Bool {
        let fields = line.split(separator: "\t", maxSplits: 5, omittingEmptySubsequences: false)
        guard fields.count > 4, let expires = Int64(fields[4]) else { return false }
        return expires != 0 && expires < now
    }

    private static func refusal(_ index: Int, _ reason: String) -> CallRefusal {
        CallRefusal(.config, "cookie \(index + 1) of the service's jar cannot be sent: \(reason); remove it")
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        var text = self
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
