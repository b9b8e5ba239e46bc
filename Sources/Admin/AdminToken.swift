// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The token that readers send as `Authorization: Bearer TOKEN`. It is never shown.
public struct AdminToken: Equatable, Sendable {
    private let bytes: [UInt8]

    /// The minimum length. Shorter tokens can be guessed.
    private static let leastLength = 16

    /// Reads the text of a file. Surrounding white space is ignored.
    ///
    /// - Throws: its defect, without quoting it.
    public init(_ text: String) throws(AdminError) {
        let words = text.utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let bytes = words.first.map(Array.init) ?? []
        guard words.count <= 1, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw AdminError(reason: "the token is more than one word of visible ASCII")
        }
        guard bytes.count >= AdminToken.leastLength else {
            throw AdminError(reason: "the token is shorter than \(AdminToken.leastLength) characters")
        }
        self.bytes = bytes
    }

    /// Whether a header contains the token: `Bearer TOKEN`, or `Basic` with any user and the token as the password, as
    /// browsers send it.
    ///
    /// The comparison takes constant time.
    func isShown(by authorization: String?) -> Bool {
        guard let authorization else { return false }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return false }
        switch words[0].lowercased() {
        case "bearer": return isEqual(Array(words[1].utf8))
        case "basic":
            guard let pair = Base64.decode(words[1]), let colon = pair.firstIndex(of: UInt8(ascii: ":")) else {
                return false
            }
            return isEqual(Array(pair[(colon + 1)...]))
        default: return false
        }
    }

    private func isEqual(_ shown: [UInt8]) -> Bool {
        guard shown.count == bytes.count else { return false }
        return zip(shown, bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
