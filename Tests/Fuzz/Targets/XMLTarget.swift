// SPDX-License-Identifier: Apache-2.0

@testable import XMLCheck

/// An XML document behind the charset of its Content-Type, which ends with a zero byte.
enum XMLTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        let charset = reader.text()
        let document = Array(reader.rest)
        let defect = XMLCheck.defect(of: document, charset: charset.isEmpty ? nil : charset)
        if let defect {
            try expect(!defect.isEmpty && defect.utf8.count < 200, "a defect without a sentence")
            try expect(!defect.contains("far too long"), "a small document takes long")
        } else {
            try expect(!document.isEmpty, "nothing is well-formed")
        }
    }
}
