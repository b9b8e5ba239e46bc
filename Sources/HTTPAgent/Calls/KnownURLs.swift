// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Recently parsed URLs by their text. To parse and check one takes more than a microsecond.
struct KnownURLs {
    private var urls: [String: CallURL] = [:]

    /// The parsed URL of a call.
    mutating func parse(_ call: HTTPCall) throws(CallURL.Refusal) -> CallURL {
        guard call.query.isEmpty else { return try CallURL.parse(call.url, query: call.query) }
        if let known = urls[call.url] { return known }
        let url = try CallURL.parse(call.url)
        // A URL with a password is not kept longer than its call.
        if url.authorization == nil, call.url.utf8.count <= 512 {
            if urls.count == 256 { urls.removeAll(keepingCapacity: true) }
            urls[call.url] = url
        }
        return url
    }
}
