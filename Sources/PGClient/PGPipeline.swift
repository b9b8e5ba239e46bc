// SPDX-License-Identifier: Apache-2.0

/// The sent entries without an answer, in order. The server answers in the same order.
struct PGPipeline {
    /// A sent message that gets an answer.
    enum Entry {
        /// A set-up statement.
        case setUp
        /// A statement at the beginning of each group.
        case opening
        /// A `PREPARE` before the first use.
        case prepare(PGStatement)
        /// A statement of the owner.
        case statement(tag: UInt64, PGStatement)
        /// The end of a group.
        case sync
    }

    private var entries: [Entry] = []
    private var head = 0

    /// The entry whose answer comes next.
    var first: Entry? { head < entries.count ? entries[head] : nil }

    var isEmpty: Bool { head == entries.count }

    /// The number of the owner's statements up to the end of the current group.
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
        // The entries are moved down once per 64 answers. That keeps the block small without the index arithmetic of a
        // ring.
        if head == entries.count {
            entries.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64 {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Removes all entries, and returns the owner's tags in order of sending.
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
