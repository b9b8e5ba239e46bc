// SPDX-License-Identifier: Apache-2.0
import CFiles
import JobModel

/// The stored facts about an incomplete download: the origin of its bytes, and the validator to request the rest.
struct PartNote: Equatable {
    /// SHA-256 of the URL in hex. The URL itself may contain a password or a signature.
    var url: String
    /// A strong entity tag, including its quotes.
    var etag: String?
    /// A Last-Modified that counts as strong.
    var modified: String?
    /// Last-Modified, strong or not. Another value means another version.
    var dated: String?
    /// The size of the whole file.
    var total: Int64?

    /// A note with only its URL.
    init(url: String) { self.url = url }

    /// Reads the lines of `text`. Nil if the first one is missing. Unknown lines are ignored.
    init?(text: String) {
        var fields: [Substring: String] = [:]
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            fields[line[..<space]] = String(line[line.index(after: space)...])
        }
        guard let url = fields["url"] else { return nil }
        self.url = url
        etag = fields["etag"]
        modified = fields["modified"]
        dated = fields["dated"] ?? modified
        total = fields["total"].flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
    }

    /// One line for each known fact.
    var text: String {
        var lines = "url \(url)\n"
        if let etag { lines += "etag \(etag)\n" }
        if let modified { lines += "modified \(modified)\n" }
        if let dated, dated != modified { lines += "dated \(dated)\n" }
        if let total { lines += "total \(total)\n" }
        return lines
    }

    /// The value of If-Range. Nil without a validator that distinguishes versions.
    var validator: String? { etag ?? modified }

    /// The hash of a call's URL, including the query.
    static func urlHash(of call: HTTPCall) -> String {
        var text = [UInt8](call.url.utf8)
        for field in call.query { text += [0] + [UInt8](field.name.utf8) + [0] + [UInt8](field.value.utf8) }
        var hash = [UInt8](repeating: 0, count: 32)
        let done = unsafe text.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe cfiles_sha256($0, bytes.count, &hash) } ?? false
        }
        let digits = [Character]("0123456789abcdef")
        return done ? String(hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) : ""
    }
}
