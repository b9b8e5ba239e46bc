// SPDX-License-Identifier: Apache-2.0

/// A random spec for `postrider.submit`: steps with values of earlier steps, conditions, and lists that become members.
///
/// `SpecModel` computes its outcome.
public struct SpecPlan: Sendable {
    /// The source of a value.
    public enum Source: Sendable {
        /// A field in the answer of a member. The names lead from a visible member down to it.
        case member([String], Field)
        /// The previous step.
        case previous(Field)
        /// One of the results of a batch.
        case result(String, index: Int)
        /// The element of the list for which `each` made the job.
        case item
    }

    /// A field in an answer of the target.
    public enum Field: String, Sendable {
        /// A number.
        case n
        /// A text with characters that a URL has to encode.
        case s
    }

    /// The condition of a step.
    public enum Condition: Sendable {
        /// The step runs if a number is even.
        case isEven(Source)
        /// The step runs if another step was not skipped.
        case isThere(String)
    }

    /// The list of an `each`.
    public enum List: Sendable {
        /// The list in an answer.
        case answer(String)
        /// A few numbers, and perhaps a number of an answer as the last one.
        case numbers([Int], then: Source?)
    }

    /// The kind of a plan's node.
    public indirect enum Kind: Sendable {
        /// A call: the target's action, the number of the call, and the values at the end of its path and query.
        case call(String, number: Int, path: [Source], query: Source?)
        /// Its steps.
        case chain([SpecPlan])
        /// Its members.
        case batch([SpecPlan])
        /// A batch with one member of this shape for each element.
        case each(List, SpecPlan)
    }

    /// The kind of this node.
    public var kind: Kind
    /// The name by which other nodes refer to it.
    public var name: String?
    /// The condition of a step.
    public var condition: Condition?
    /// The mode of a batch.
    public var mode = "all"
    /// The parallel limit of a batch.
    public var maxParallel: Int?

    init(_ kind: Kind) { self.kind = kind }

    /// The numbers of all calls in the plan.
    public var calls: [Int] {
        switch kind {
        case .call(_, let number, _, _): [number]
        case .chain(let members), .batch(let members): members.flatMap(\.calls)
        case .each(_, let member): member.calls
        }
    }

    private static let settings =
        #""response_format": "json", "max_attempts": 30, "backoff": ["20 ms", "60 ms"]"#

    private static func operation(_ answer: String, _ values: Int, _ hasQuery: Bool) -> String {
        "\(answer) \(values)\(hasQuery ? " q" : "")"
    }

    /// The INSERT of the operations that plans call. Every third call of a plan is one.
    public static func operations(target: String) -> String {
        var rows: [String] = []
        for answer in ["good", "bad", "flaky"] {
            for values in 0...2 {
                for hasQuery in [false, true] {
                    let names = (0..<values).map { "p\($0)" } + (hasQuery ? ["q"] : [])
                    let types = (["number"] + names).map { #""\#($0)": "any""# }.joined(separator: ", ")
                    let path = (["number"] + names.prefix(values)).map { "/{{arg.\($0)}}" }.joined()
                    let url = "\(target)/\(answer)\(path)\(hasQuery ? "?q={{arg.q}}" : "")"
                    rows.append(
                        "('\(operation(answer, values, hasQuery))', '{\(types)}', '{\"url\": \"\(url)\", \(settings)}')"
                    )
                }
            }
        }
        return "insert into postrider.operations (name, arguments, spec) values " + rows.joined(separator: ", ")
    }

    /// The JSON object that `submit` takes.
    public func json(target: String) -> String {
        var pairs: [String] = []
        if let name { pairs.append(#""name": "\#(name)""#) }
        if let condition { pairs.append(#""run_if": "\#(condition.jsonpath)""#) }
        switch kind {
        case .call(let answer, let number, let path, let query) where number % 3 == 0:
            pairs.append(#""operation": "\#(SpecPlan.operation(answer, path.count, query != nil))""#)
            let values =
                path.enumerated().map { #""p\#($0)": "\#($1.template)""# }
                + (query.map { [#""q": "\#($0.template)""#] } ?? [])
            pairs.append(#""arguments": {\#(([#""number": \#(number)"#] + values).joined(separator: ", "))}"#)
        case .call(let answer, let number, let path, let query):
            let end = path.map { "/" + $0.template }.joined() + (query.map { "?q=" + $0.template } ?? "")
            pairs.append(#""url": "\#(target)/\#(answer)/\#(number)\#(end)""#)
            pairs.append(SpecPlan.settings)
        case .chain(let steps):
            pairs.append(#""chain": [\#(steps.map { $0.json(target: target) }.joined(separator: ", "))]"#)
        case .batch(let members):
            pairs.append(#""batch": [\#(members.map { $0.json(target: target) }.joined(separator: ", "))]"#)
        case .each(let list, let member):
            pairs.append(#""batch": {"each": \#(list.json), "do": \#(member.json(target: target))}"#)
        }
        switch kind {
        case .batch, .each:
            pairs.append(#""mode": "\#(mode)""#)
            if let maxParallel { pairs.append(#""max_parallel": \#(maxParallel)"#) }
        default: break
        }
        return "{" + pairs.joined(separator: ", ") + "}"
    }
}

extension SpecPlan.Source {
    /// The source between braces.
    fileprivate var template: String { "{{" + reference + "}}" }

    /// The path of the source, as in a template or, after `$.`, in a jsonpath.
    fileprivate var reference: String {
        switch self {
        case .member(let names, let field): names.joined(separator: ".") + ".body." + field.rawValue
        case .previous(let field): "prev.body." + field.rawValue
        case .result(let name, let index): "\(name).results[\(index)].n"
        case .item: "item"
        }
    }
}

extension SpecPlan.Condition {
    fileprivate var jsonpath: String {
        switch self {
        case .isEven(let source): "$.\(source.reference) % 2 == 0"
        case .isThere(let name): "exists($.\(name))"
        }
    }
}

extension SpecPlan.List {
    fileprivate var json: String {
        switch self {
        case .answer(let name): #""{{\#(name).body.list}}""#
        case .numbers(let numbers, let last):
            "[" + (numbers.map { "\($0)" } + (last.map { ["\"\($0.template)\""] } ?? [])).joined(separator: ", ") + "]"
        }
    }
}
