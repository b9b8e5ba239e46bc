// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The INSERT of the job that sends the request of a curl command.
enum CurlInsert {
    /// The statement, without a semicolon. It returns the id.
    static func sql(_ line: CurlLine) throws(CommandError) -> String {
        var columns: [(name: String, value: String)] = []
        let method = try line.sentMethod()
        if method != .get { columns.append(("method", SQLText.quoted(method.rawValue))) }
        columns.append(("url", SQLText.quoted(try line.sentURL())))
        let headers = try line.sentHeaders()
        if !headers.isEmpty { columns.append(("headers", SQLText.quoted(json(headers)))) }
        if let body = line.body { columns.append(("body", bytes(body))) }
        if !line.parts.isEmpty { columns.append(("body_parts", SQLText.quoted(json(line.parts)))) }
        if let seconds = line.seconds { columns.append(("timeout", SQLText.quoted("\(seconds) s"))) }
        // Without -L curl follows no redirect.
        if let most = line.follows ? line.redirects : 0 { columns.append(("max_redirects", "\(most)")) }
        return """
            insert into postrider.jobs (\(columns.map(\.name).joined(separator: ", ")))
            values (\(columns.map(\.value).joined(separator: ",\n        ")))
            returning id
            """
    }

    private static func bytes(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) {
            return "convert_to(\(SQLText.quoted(text)), 'UTF8')"
        }
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "decode('\(hex)', 'hex')"
    }

    /// Headers as an object. Values of one name become an array.
    private static func json(_ headers: [HTTPHeader]) -> String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for header in headers {
            let lower = header.name.lowercased()
            if values[lower] == nil { names.append(header.name) }
            values[lower, default: []].append(JSONText.quoted(header.value))
        }
        return "{"
            + names.map { name in
                let all = values[name.lowercased()] ?? []
                let value = all.count == 1 ? all[0] : "[\(all.joined(separator: ", "))]"
                return "\(JSONText.quoted(name)): \(value)"
            }.joined(separator: ", ") + "}"
    }

    private static func json(_ parts: [CurlPart]) -> String {
        let objects = parts.map { part in
            var members = [("name", part.name)]
            if let text = String(validating: part.content, as: UTF8.self), !part.content.contains(0) {
                members.append(("content", text))
            } else {
                members.append(("base64", Base64.encode(part.content)))
            }
            if let filename = part.filename { members.append(("filename", filename)) }
            if let type = part.type { members.append(("type", type)) }
            return "{\(members.map { "\"\($0)\": \(JSONText.quoted($1))" }.joined(separator: ", "))}"
        }
        return "[\(objects.joined(separator: ", "))]"
    }
}
