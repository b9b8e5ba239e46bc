// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The person in whose name an act happens: the user name of the login. The gate has checked the token before.
///
/// All people share the token, so the name is a statement and no proof. A proxy with logins of its own can set it.
struct AdminLogin: Equatable, Sendable {
    let name: String

    /// The name of programs that send the token as `Bearer`.
    static let program = "token"
    private static let mostCharacters = 100

    /// Reads the user name of HTTP Basic. Nil if it is empty, too long, or has characters that cannot be shown.
    init?(_ authorization: String?) {
        let words = (authorization ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        guard words[0].lowercased() == "basic" else {
            name = AdminLogin.program
            return
        }
        guard let pair = Base64.decode(words[1]), let colon = pair.firstIndex(of: UInt8(ascii: ":")),
            let text = String(validating: pair[..<colon], as: UTF8.self),
            (1...AdminLogin.mostCharacters).contains(text.unicodeScalars.count),
            text.unicodeScalars.allSatisfy(SanitizedText.isHarmless), !text.allSatisfy(\.isWhitespace)
        else { return nil }
        name = text
    }

    /// How reasons of pauses and cancels name the actor.
    var words: String { "\(name) (dashboard)" }
}
