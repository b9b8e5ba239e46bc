// SPDX-License-Identifier: Apache-2.0

internal import CXML

/// Checks whether bytes are a well-formed XML document, and describes the first defect.
///
/// libxml2 reads the document once. Entities are never expanded and no resource is loaded. So time and memory are
/// proportional to the document's size for any declarations. A depth of more than 256 elements is refused. The content
/// of entities is not checked. It takes about 10 ms for 1 MB.
public enum XMLCheck {
    /// The defect of a document, without quoting it: `line 3: a tag is closed that is not the open one`.
    ///
    /// - Parameters:
    ///   - document: the bytes as received.
    ///   - charset: the charset that the server named. It overrides the document's own. A byte order mark overrides
    ///     both.
    /// - Returns: nil for a well-formed document.
    ///
    /// C: `xmlCtxtReadIO`.
    public static func defect(of document: [UInt8], charset: String? = nil) -> String? {
        let override = hasByteOrderMark(document) ? nil : charset
        let defect = unsafe document.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return unsafe cxml_check("", 0, nil) }
            return unsafe cxml_check(start, bytes.count, override)
        }
        guard defect.code != 0 else { return nil }
        let reason = reason(defect.code)
        return defect.line > 0 ? "line \(defect.line): \(reason)" : reason
    }

    private static func hasByteOrderMark(_ document: [UInt8]) -> Bool {
        document.starts(with: [0xEF, 0xBB, 0xBF]) || document.starts(with: [0xFE, 0xFF])
            || document.starts(with: [0xFF, 0xFE])
    }

    /// libxml2's own texts quote the document, and these do not. The numbers of `xmlParserErrors` are fixed.
    private static func reason(_ code: Int32) -> String {
        switch code {
        case 1, 110: "elements are nested deeper than 256, or a name or text is too long to be read"
        case 2: "there is not enough memory to read it"
        case 4: "there is no root element"
        case 5: "something follows the root element"
        case 6...9: "a character is not allowed in XML, or the bytes do not match the charset"
        case 26, 27: "an entity is used that is not declared"
        case 31, 32: "the charset that it declares is not known"
        case 38: "an attribute's value contains <"
        case 39...42, 65, 75: "an attribute is not written as name=\"value\", or occurs twice"
        case 45, 47, 63: "a comment, an instruction or a CDATA section is not closed"
        case 56, 57, 64, 96: "the XML declaration is broken or not at the start"
        case 60, 61: "the document type declaration is broken"
        case 68, 69, 73: "a tag is broken"
        case 74, 77: "the document ends inside an element"
        case 76: "an element is closed by the end tag of another"
        case 79...81: "the bytes do not match the charset that the answer or the document declares"
        case 87, 89: "an entity refers to itself or grows too much"
        case 88: "a parameter entity is used inside a declaration"
        case 100_001: "reading it takes far too long for its size; it may be malicious"
        case 100_002: "it declares more than 10,000 entities"
        default: "the markup is broken (libxml2 error \(code))"
        }
    }
}
