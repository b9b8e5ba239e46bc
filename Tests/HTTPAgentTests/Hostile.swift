// SPDX-License-Identifier: Apache-2.0
import HostileTarget
import JobModel
import Testing

/// One server for all tests of this process.
enum Hostile {
    private static let started = Result { try HostileServer() }

    static var server: HostileServer { get throws { try started.get() } }

    /// A call to the server that allows private addresses.
    static func call(
        _ path: String, method: HTTPMethod = .get, query: [FormField] = [], headers: [HTTPHeader] = [],
        body: RequestBody = .none, limits: CallLimits = CallLimits(total: .seconds(10))
    ) throws -> HTTPCall {
        try HTTPCall(
            method: method, url: server.url(path), query: query, headers: headers, body: body, limits: limits,
            allowsPrivateNetwork: true)
    }
}

extension CallOutcome {
    /// The answer; fails the test if the call has another outcome.
    func response(_ location: SourceLocation = #_sourceLocation) throws -> HTTPResponse {
        if case .response(let response) = ending { return response }
        return try #require(nil as HTTPResponse?, "\(self)", sourceLocation: location)
    }

    /// The failure; fails the test if the call has another outcome.
    func failure(_ location: SourceLocation = #_sourceLocation) throws -> CallFailure {
        if case .failure(let failure) = ending { return failure }
        return try #require(nil as CallFailure?, "it succeeded", sourceLocation: location)
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
    var headerLines: [Substring] { String(decoding: headerBlock, as: UTF8.self).split(separator: "\n") }
}
