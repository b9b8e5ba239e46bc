// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The one-time tokens of the forms on this worker's confirmation pages. They prove that the page with the form was
/// read by the same person, which a page of another site cannot do.
///
/// They stay in memory: after a restart of the worker, its old forms are refused.
final class FormTokens: Sendable {
    /// The result of the check of a token.
    enum Verdict: Equatable {
        /// It was issued to this actor within the hour and has not been used. It belongs to the form with this subject.
        case valid(subject: String)
        /// It was never issued, is too old, or was used.
        case unknown
        /// It was issued to another actor.
        case foreign
    }

    private struct Entry {
        let secret: [UInt8]
        let actor: String
        /// The act and its object, as the page has shown them.
        let subject: String
        let issuedAt: Int
    }

    private struct Entries {
        var byNumber: [UInt64: Entry] = [:]
        /// The numbers in the order of their issue, also of used tokens.
        var order: [UInt64] = []
    }

    private let entries = Mutex(Entries())

    /// The life of a token in seconds.
    static let life = 3600
    /// The most tokens. The oldest are dropped.
    static let capacity = 4096
    private static let secretBytes = 32

    /// A new token for a form.
    func issue(to actor: String, for subject: String, now: Int = FormTokens.seconds) -> String {
        var random = SystemRandomNumberGenerator()
        let number = random.next()
        let secret = (0..<FormTokens.secretBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        entries.withLock { entries in
            entries.byNumber[number] = Entry(secret: secret, actor: actor, subject: subject, issuedAt: now)
            entries.order.append(number)
            while entries.order.count > FormTokens.capacity {
                entries.byNumber[entries.order.removeFirst()] = nil
            }
        }
        return "\(number)-\(secret.map { String($0, radix: 16, padding: 2) }.joined())"
    }

    /// Checks a token without using it up.
    func verdict(on token: String, from actor: String, now: Int = FormTokens.seconds) -> Verdict {
        entries.withLock { entries in
            guard let (_, entry) = FormTokens.find(token, entries, now: now) else { return .unknown }
            return entry.actor == actor ? .valid(subject: entry.subject) : .foreign
        }
    }

    /// Uses a token up. False if it is not valid for this actor any longer, for example because another request has
    /// just used it.
    func take(_ token: String, from actor: String, now: Int = FormTokens.seconds) -> Bool {
        entries.withLock { entries in
            guard let (number, entry) = FormTokens.find(token, entries, now: now), entry.actor == actor else {
                return false
            }
            entries.byNumber[number] = nil
            return true
        }
    }

    /// The entry of a token, by its number. The number is no secret; the secret is compared in constant time.
    private static func find(_ token: String, _ entries: Entries, now: Int) -> (UInt64, Entry)? {
        let parts = token.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let number = UInt64(parts[0]), let entry = entries.byNumber[number],
            now - entry.issuedAt < life
        else { return nil }
        let shown = bytes(parts[1])
        guard shown.count == entry.secret.count else { return nil }
        return zip(shown, entry.secret).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? (number, entry) : nil
    }

    private static func bytes(_ hex: Substring) -> [UInt8] {
        let digits = Array(hex.utf8)
        guard digits.count == 2 * secretBytes else { return [] }
        return (0..<secretBytes).map { place in
            UInt8(String(decoding: digits[(2 * place)..<(2 * place + 2)], as: UTF8.self), radix: 16) ?? 0
        }
    }

    /// Seconds since the start of the machine, with the time in which it was suspended.
    static var seconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec
    }
}

extension String {
    /// The digits of a number, with zeros in front.
    fileprivate init(_ value: UInt8, radix: Int, padding: Int) {
        let digits = String(value, radix: radix)
        self = String(repeating: "0", count: padding - digits.count) + digits
    }
}
