// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Gives a handle the data that all sendings of its call share: the body, the jar and the room for the answer.
enum BodyLoader {
    /// Checks body and jar of a call and copies them into its handle.
    static func load(_ call: HTTPCall, into transfer: CurlTransfer) throws(CallRefusal) {
        transfer.setRoom(call.answerRoom)
        let hasMemory: Bool
        switch call.body {
        case .none: hasMemory = transfer.setBody([])
        case .bytes(let bytes, _): hasMemory = setBody(bytes, of: call, in: transfer)
        case .form(let fields):
            hasMemory = setBody(PercentEncoding.encode(fields, space: .plus), of: call, in: transfer)
        case .parts(let parts):
            hasMemory = true
            if call.method != .head {
                try check(parts)
                // File parts are added when the files are open.
                if !parts.contains(where: \.isFile) { try add(parts, [], to: transfer) }
            }
        }
        guard hasMemory else { throw .memory }
        if call.usesCookies { try setCookies(call, in: transfer) }
    }

    private static func setBody(_ bytes: [UInt8], of call: HTTPCall, in transfer: CurlTransfer) -> Bool {
        call.sendsGzip ? transfer.setGzipBody(bytes) : transfer.setBody(bytes)
    }

    private static func check(_ parts: [BodyPart]) throws(CallRefusal) {
        guard !parts.isEmpty else { throw CallRefusal(.config, "body_parts holds no part; leave it out instead") }
        for part in parts {
            if let type = part.type, let refusal = RequestHeaders.refusal(of: HTTPHeader("Content-Type", type)) {
                throw CallRefusal(.badHeader, refusal)
            }
            guard !part.name.utf8.contains(0), !(part.filename ?? "").utf8.contains(0) else {
                throw CallRefusal(.badHeader, "a part's name or filename holds a NUL")
            }
            if case .bytes(let bytes) = part.content, let limit = part.maxBytes, Int64(bytes.count) > limit {
                throw CallRefusal(.file, "a part has \(bytes.count) bytes, more than the limit of \(limit) (max_bytes)")
            }
        }
    }

    /// Builds the body from these parts. Their files are open.
    static func add(_ parts: [BodyPart], _ files: [UploadFile], to transfer: CurlTransfer) throws(CallRefusal) {
        var files = files[...]
        for part in parts {
            var bytes: [UInt8] = []
            var file: UploadFile?
            switch part.content {
            case .bytes(let content): bytes = content
            case .file: file = files.popFirst()
            }
            guard transfer.addPart(part, filename: part.sentFilename, type: part.sentType, bytes: bytes, file: file)
            else {
                throw .memory
            }
        }
    }

    private static func setCookies(_ call: HTTPCall, in transfer: CurlTransfer) throws(CallRefusal) {
        try CookieLines.check(call.cookies)
        // The request has one Cookie header, so the job's own cookies go into the jar's line.
        let own = call.headers.filter { $0.name.lowercased() == "cookie" }.map(\.value).joined(separator: "; ")
        guard transfer.setCookies(call.cookies), transfer.setOwnCookies(own.isEmpty ? nil : own) else {
            throw .memory
        }
    }
}
