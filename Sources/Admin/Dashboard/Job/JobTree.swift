// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The place of a job in its batch or chain: its ancestors, the members next to it, and its own members.
///
/// It reads about twenty members of a batch, however many there are. Of each of these it reads a few members.
/// `MembersPage` lists all members.
struct JobTree: Sendable {
    private let root: Tree.Node?
    /// The batch or chain that the picture shows: the job itself, or the one that it is a member of.
    private var pictured: Tree.Node?

    /// How many members before and after a job are shown.
    private static let siblings = 3
    /// How many members of a batch or chain are shown.
    private static let members = 12
    /// How many members of a member are shown. With twelve members, a picture has at most 48 boxes in its frames.
    private static let innerMembers = 4
    /// How many ancestors are shown. Deeper trees are rare, and their first levels are cut.
    private static let mostAncestors = 10

    private enum NodeColumn: Int, PGColumn {
        case id, kind, name, call, state, isCached, position, error, children, ended, failed, parent

        var sql: StaticString {
            switch self {
            case .id: "s.id"
            case .kind: "s.kind"
            case .name: "s.name"
            case .call:
                """
                case when s.kind = 'request'
                  then concat_ws(' ', s.method, postrider_internal.url_with_masked_query(s.url, '{}')) end as call
                """
            case .state: "s.state"
            case .isCached: "s.from_cache as is_cached"
            case .position: "coalesce(s.position, 0) as position"
            case .error: "s.error_code as error"
            case .children: "s.children"
            case .ended: "s.children_finished"
            case .failed: "s.children_failed"
            case .parent: "s.parent_id"
            }
        }
    }

    private enum WindowColumn: Int, PGColumn {
        case start, earlier

        var sql: StaticString {
            switch self {
            case .start: "w.start"
            case .earlier:
                """
                (select count(*) from postrider_internal.members m
                  where m.parent_id = $1 and m.position < w.start) as earlier
                """
            }
        }
    }

    /// Reads the tree of a job. It has no root if the job stands alone.
    init(_ head: JobHead, _ connection: borrowing PGConnection) throws(PGError) {
        guard head.parent != nil || !head.isRequest else {
            root = nil
            return
        }
        guard let here = try JobTree.node(head.id, connection) else {
            root = nil
            return
        }
        var (node, parent) = here
        node.isHere = true
        if let progress = head.progress, progress.all > 0 {
            node.children = try JobTree.addingMembers(
                to: try JobTree.members(head.id, progress.all, connection), connection)
        }
        pictured = head.isRequest ? nil : node
        var isNext = true
        for _ in 0..<JobTree.mostAncestors {
            guard let id = parent, let found = try JobTree.node(id, connection) else { break }
            var above = found.node
            above.children =
                isNext ? try JobTree.siblings(of: node, in: id, connection) : [.node(node)]
            if isNext && head.isRequest {
                above.children = try JobTree.addingMembers(to: above.children, connection)
                pictured = above
            }
            isNext = false
            node = above
            parent = found.parent
        }
        root = node
    }

    private static func node(
        _ id: Int64, _ connection: borrowing PGConnection
    ) throws(PGError) -> (node: Tree.Node, parent: Int64?)? {
        var parameters = PGParameters()
        parameters.append(int64: id)
        let read = try connection.query(
            "select \(NodeColumn.selectList) from postrider.job_status s where s.id = $1", &parameters)
        guard read.rowCount > 0 else { return nil }
        return (node(read, 0), read.optionalInt64(0, NodeColumn.parent))
    }

    private static func node(_ read: borrowing PGResult, _ row: Int) -> Tree.Node {
        let children = read.optionalInt64(row, NodeColumn.children)
        return Tree.Node(
            id: read.int64(row, NodeColumn.id), kind: read.text(row, NodeColumn.kind),
            name: read.optionalText(row, NodeColumn.name), call: read.optionalText(row, NodeColumn.call),
            state: read.text(row, NodeColumn.state), isCached: read.bool(row, NodeColumn.isCached),
            position: read.optionalInt64(row, NodeColumn.parent) == nil ? nil : read.int32(row, NodeColumn.position),
            error: read.optionalText(row, NodeColumn.error),
            progress: children.map {
                ProgressBar(
                    ended: read.optionalInt64(row, NodeColumn.ended) ?? 0,
                    failed: read.optionalInt64(row, NodeColumn.failed) ?? 0, all: $0)
            })
    }

    /// The members next to a job, with the job itself.
    private static func siblings(
        of node: Tree.Node, in parent: Int64, _ connection: borrowing PGConnection
    ) throws(PGError) -> [Tree.Entry] {
        let place = node.position ?? 0
        // Selected first, so that `job_status` is computed for these members only. One more shows that there are more.
        let read = try nodes(
            """
            array(select m.job_id from postrider_internal.members m where m.parent_id = $1 and m.position < $2
                   order by m.position desc limit \(siblings + 1))
            || array(select m.job_id from postrider_internal.members m where m.parent_id = $1 and m.position > $2
                      order by m.position limit \(siblings + 1))
            """, parent, place, connection)
        let before = read.filter { ($0.position ?? 0) < place }
        let after = read.filter { ($0.position ?? 0) > place }
        var entries: [Tree.Entry] = before.suffix(siblings).map { .node($0) }
        if before.count > siblings {
            entries.insert(.more(words: "Earlier members", path: "/jobs/\(parent)/members", count: nil), at: 0)
        }
        entries.append(.node(node))
        entries += after.prefix(siblings).map { .node($0) }
        if after.count > siblings, let next = after.last?.position {
            entries.append(.more(words: "Later members", path: "/jobs/\(parent)/members/\(next)", count: nil))
        }
        return entries
    }

    /// Members of a batch or chain: those around the first failure, or around the step whose turn is next.
    private static func members(
        _ tree: Int64, _ count: Int64, _ connection: borrowing PGConnection
    ) throws(PGError) -> [Tree.Entry] {
        var parameters = PGParameters()
        parameters.append(int64: tree)
        parameters.append(int32: Int32(siblings))
        parameters.append(bool: count <= Int64(members))
        let window = try connection.query(
            """
            select \(WindowColumn.selectList) from (
              select case when $3 then 0 else greatest(coalesce(
                (select m.position from postrider_internal.trees t
                   join postrider_internal.members m on m.job_id = t.failed_job_id and m.parent_id = t.job_id
                  where t.job_id = $1),
                (select min(m.position) from postrider_internal.members m
                   join postrider_internal.trees t on t.job_id = m.parent_id and t.kind = 'c'
                  where m.parent_id = $1 and m.is_waiting), 0) - $2, 0) end as start) w
            """, &parameters)
        let start = window.int32(0, WindowColumn.start)
        let read = try nodes(
            """
            array(select m.job_id from postrider_internal.members m where m.parent_id = $1 and m.position >= $2
                   order by m.position limit \(members + 1))
            """, tree, start, connection)
        var entries: [Tree.Entry] = read.prefix(members).map { .node($0) }
        let earlier = window.int64(0, WindowColumn.earlier)
        if earlier > 0 {
            entries.insert(.more(words: "Earlier members", path: "/jobs/\(tree)/members", count: earlier), at: 0)
        }
        if read.count > members, let next = read.last?.position {
            entries.append(
                .more(
                    words: "Later members, \(Column.grouped("\(count)")) in all", path: "/jobs/\(tree)/members/\(next)",
                    count: max(count - earlier - Int64(members), 1)))
        }
        return entries
    }

    /// The entries. Each batch among them gets its first members, each chain its members around the next step. Both get
    /// the member that failed first.
    private static func addingMembers(
        to entries: [Tree.Entry], _ connection: borrowing PGConnection
    ) throws(PGError) -> [Tree.Entry] {
        let trees = entries.compactMap { entry -> Int64? in
            guard case .node(let node) = entry, (node.progress?.all ?? 0) > 0, node.children.isEmpty else { return nil }
            return node.id
        }
        guard !trees.isEmpty else { return entries }
        var parameters = PGParameters()
        parameters.append(int64s: trees)
        let read = try connection.query(
            """
            select \(NodeColumn.selectList) from postrider.job_status s
             where s.id = any (array(
               select f.job_id
                 from postrider_internal.trees t
                cross join lateral (
                      (select m.job_id from postrider_internal.members m
                        where m.parent_id = t.job_id
                          and (t.kind = 'b' or m.position >= least(t.reached - 1, t.children - \(innerMembers - 1)))
                          order by m.position limit \(innerMembers))
                      union
                      select m.job_id from postrider_internal.members m
                       where m.job_id = t.failed_job_id and m.parent_id = t.job_id) f
                where t.job_id = any ($1)))
             order by s.parent_id, s.position
            """, &parameters)
        var inner: [Int64: [Tree.Node]] = [:]
        for row in 0..<read.rowCount {
            guard let parent = read.optionalInt64(row, NodeColumn.parent) else { continue }
            inner[parent, default: []].append(node(read, row))
        }
        return entries.map { entry in
            guard case .node(var node) = entry, let members = inner[node.id] else { return entry }
            let all = max(node.progress?.all ?? 0, Int64(members.count))
            let room = all > Int64(innerMembers) ? innerMembers - 1 : innerMembers
            // The member that failed first is one of the shown ones, even if it is far behind.
            var shown = Array(members.prefix(room))
            if let failed = members.last, members.count > innerMembers { shown[room - 1] = failed }
            node.children = shown.map { .node($0) }
            let rest = all - Int64(shown.count)
            if rest > 0 {
                let words = rest == 1 ? "1 more member" : "\(Column.grouped("\(rest)")) more members"
                node.children.append(.more(words: words, path: "/jobs/\(node.id)/members", count: rest))
            }
            return .node(node)
        }
    }

    private static func nodes(
        _ ids: String, _ tree: Int64, _ position: Int32, _ connection: borrowing PGConnection
    ) throws(PGError) -> [Tree.Node] {
        var parameters = PGParameters()
        parameters.append(int64: tree)
        parameters.append(int32: position)
        let read = try connection.query(
            """
            select \(NodeColumn.selectList) from postrider.job_status s where s.id = any (\(ids)) order by s.position
            """, &parameters)
        return (0..<read.rowCount).map { node(read, $0) }
    }

    /// Adds the section; nothing for a job that stands alone.
    func write(to html: inout HTML) {
        guard let root else { return }
        html.element("section") { html in
            html.element("h2", "Tree")
            if let pictured { Flow(root: pictured).write(to: &html) }
            Tree(root: root).write(to: &html)
        }
    }
}
