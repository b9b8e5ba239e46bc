// SPDX-License-Identifier: Apache-2.0

/// A spec for `postrider.submit` made at random: steps that take values from those before them, conditions, lists that
/// become members. `SpecModel` tells what becomes of it.
public struct SpecPlan: Sendable {
    /// Where a value comes from.
    public enum Source: Sendable {
        /// A member that can be seen by its name, down from there by more names; then what of its answer.
        case member([String], Field)
        /// The nearest step before.
        case previous(Field)
        /// One of the results of a batch.
        case result(String, index: Int)
        /// The element that the job was made for.
        case item
    }

    /// What an answer of the target holds.
    public enum Field: String, Sendable {
        /// A number.
        case n
        /// A text with characters that a URL has to encode.
        case s
    }

    /// Whether a step runs.
    public enum Condition: Sendable {
        /// A number is even.
        case isEven(Source)
        /// A step was not skipped.
        case isThere(String)
    }

    /// What an `each` is made for.
    public enum List: Sendable {
        /// The list that an answer holds.
        case answer(String)
        /// A few numbers, the last of them perhaps an answer's.
        case numbers([Int], then: Source?)
    }

    /// What it is.
    public indirect enum Kind: Sendable {
        /// A call: what the target does with it, its number, and what its path and query end with.
        case call(String, number: Int, path: [Source], query: Source?)
        /// Its steps.
        case chain([SpecPlan])
        /// Its members.
        case batch([SpecPlan])
        /// A batch with one member of this shape for each element.
        case each(List, SpecPlan)
    }

    /// What it is.
    public var kind: Kind
    /// By which others speak of it.
    public var name: String?
    /// Of a step.
    public var condition: Condition?
    /// Of a batch.
    public var mode = "all"
    /// Of a batch.
    public var maxParallel: Int?

    init(_ kind: Kind) { self.kind = kind }

    /// The numbers of all calls in it.
    public var calls: [Int] {
        switch kind {
        case .call(_, let number, _, _): [number]
        case .chain(let members), .batch(let members): members.flatMap(\.calls)
        case .each(_, let member): member.calls
        }
    }

    /// The object that `submit` takes.
    public func json(target: String) -> String {
        var pairs: [String] = []
        if let name { pairs.append(#""name": "\#(name)""#) }
        if let condition { pairs.append(#""run_if": "\#(condition.path)""#) }
        switch kind {
        case .call(let answer, let number, let path, let query):
            let end = path.map { "/" + $0.template }.joined() + (query.map { "?q=" + $0.template } ?? "")
            pairs.append(#""url": "\#(target)/\#(answer)/\#(number)\#(end)""#)
            pairs.append(#""response_format": "json", "max_attempts": 30, "backoff": ["20 ms", "60 ms"]"#)
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
    /// Between braces.
    fileprivate var template: String { "{{" + way + "}}" }

    /// As a template and, behind `$.`, a jsonpath have it.
    fileprivate var way: String {
        switch self {
        case .member(let names, let field): names.joined(separator: ".") + ".body." + field.rawValue
        case .previous(let field): "prev.body." + field.rawValue
        case .result(let name, let index): "\(name).results[\(index)].n"
        case .item: "item"
        }
    }
}

extension SpecPlan.Condition {
    fileprivate var path: String {
        switch self {
        case .isEven(let source): "$.\(source.way) % 2 == 0"
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
