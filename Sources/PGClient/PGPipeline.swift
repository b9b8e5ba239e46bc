// SPDX-License-Identifier: Apache-2.0

/// What has been sent and not been answered, in order: the server answers in the same order.
struct PGPipeline {
    /// One thing that has an answer of its own.
    enum Entry {
        /// A set-up statement.
        case setUp
        /// What each group begins with.
        case opening
        /// A `PREPARE`, in front of the first use.
        case prepare(PGStatement)
        /// A statement of the owner's.
        case statement(tag: UInt64, PGStatement)
        /// The end of a group.
        case sync
    }

    private var entries: [Entry] = []
    private var head = 0

    /// The one whose answer comes next.
    var first: Entry? { head < entries.count ? entries[head] : nil }

    var isEmpty: Bool { head == entries.count }

    /// The owner's statements up to the end of the group whose answers come next.
    var statementsOfGroup: Int {
        var count = 0
        for entry in entries[head...] {
            switch entry {
            case .statement: count += 1
            case .sync: return count
            case .setUp, .opening, .prepare: break
            }
        }
        return count
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
    }

    mutating func removeFirst() {
        head += 1
        // Moving the rest down once per 64 answers keeps the block small without a ring's index arithmetic.
        if head == entries.count {
            entries.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64 {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Empties it; the owner's tags in order of sending.
    mutating func removeAll() -> [UInt64] {
        defer {
            entries.removeAll()
            head = 0
        }
        return entries[head...].compactMap { entry in
            guard case .statement(let tag, _) = entry else { return nil }
            return tag
        }
    }
}
