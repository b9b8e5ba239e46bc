// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The tokens that readers of pages send.
struct AdminTokenTests {
    private static let word = "0123456789abcdef"

    @Test(arguments: [
        ("Bearer 0123456789abcdef", true), ("bearer 0123456789abcdef", true), ("Bearer 0123456789abcdeF", false),
        ("Bearer 0123456789abcde", false), ("Bearer 0123456789abcdef0", false), ("Bearer", false), ("Bearer ", false),
        ("0123456789abcdef", false), ("Basic 0123456789abcdef", false), ("", false),
        // ada:0123456789abcdef, :0123456789abcdef, ada:x:0123456789abcdef, ada:0123456789abcde, 0123456789abcdef
        ("Basic YWRhOjAxMjM0NTY3ODlhYmNkZWY=", true), ("basic OjAxMjM0NTY3ODlhYmNkZWY=", true),
        ("Basic YWRhOng6MDEyMzQ1Njc4OWFiY2RlZg==", false), ("Basic YWRhOjAxMjM0NTY3ODlhYmNkZQ==", false),
        ("Basic MDEyMzQ1Njc4OWFiY2RlZg==", false), ("Basic ada:0123456789abcdef", false),
        ("Digest YWRhOjAxMjM0NTY3ODlhYmNkZWY=", false),
    ])
    func `the token is accepted after Bearer or as the password of Basic`(header: String, isRight: Bool) throws {
        #expect(try AdminToken(" \(Self.word)\n").isShown(by: header) == isRight)
    }

    @Test func `a request without an Authorization header is not accepted`() throws {
        #expect(try !AdminToken(Self.word).isShown(by: nil))
    }

    @Test(arguments: [
        ("", "the token is shorter than 16 characters"), ("0123456789abcde", "the token is shorter than 16 characters"),
        ("0123456789 abcdef", "the token is more than one word of visible ASCII"),
        ("0123456789abcdef\nsecond", "the token is more than one word of visible ASCII"),
        ("0123456789abcdé0", "the token is more than one word of visible ASCII"),
    ])
    func `a short or invalid token is refused without quoting the token`(text: String, reason: String) {
        #expect(throws: AdminError(reason: reason)) { try AdminToken(text) }
    }
}
