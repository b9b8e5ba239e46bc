// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The vertical axis of a chart: its range and its ticks. Pure.
struct ChartScale: Equatable, Sendable {
    struct Tick: Equatable, Sendable {
        let value: Double
        let label: String
    }

    let ticks: [Tick]
    private let low: Double
    private let high: Double
    private let isLogarithmic: Bool

    /// A linear axis from 0 to a round number above the largest value, with three to six ticks.
    init(counts: [Double]) {
        let most = max(counts.max() ?? 0, 0.1)
        let step = ChartScale.roundStep(most / 4)
        let steps = Int((most / step).rounded(.up))
        low = 0
        high = Double(steps) * step
        isLogarithmic = false
        ticks = (0...steps).map { Tick(value: Double($0) * step, label: ChartScale.short(Double($0) * step)) }
    }

    /// A logarithmic axis over powers of ten of a millisecond.
    init(milliseconds: [Double]) {
        var bottom = 1.0
        let least = max(milliseconds.filter { $0 > 0 }.min() ?? 1, 0.01)
        let most = max(milliseconds.max() ?? 1, least)
        while bottom > least { bottom /= 10 }
        while bottom * 10 <= least { bottom *= 10 }
        var top = bottom * 10
        while top < most { top *= 10 }
        low = bottom
        high = top
        isLogarithmic = true
        var ticks: [Tick] = []
        var value = bottom
        while value <= top * 1.01 {
            ticks.append(Tick(value: value, label: ChartScale.duration(value)))
            value *= 10
        }
        self.ticks = ticks
    }

    /// The place of a value between the bottom, 0, and the top, 1.
    func share(of value: Double) -> Double {
        guard isLogarithmic else { return min(max(value / high, 0), 1) }
        guard value > low else { return 0 }
        return min(log10(value / low) / log10(high / low), 1)
    }

    /// 1, 2 or 5 times a power of ten that is not below the number.
    private static func roundStep(_ number: Double) -> Double {
        var power = 0.01
        while power * 10 <= number { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= number * 0.999 } ?? number
    }

    /// Powers of ten of a millisecond: `1 ms`, `100 s`.
    private static func duration(_ milliseconds: Double) -> String {
        milliseconds < 999 ? "\(short(milliseconds)) ms" : "\(short(milliseconds / 1000)) s"
    }

    /// A number in at most five characters: `0.25`, `12`, `1.5k`, `3M`.
    static func short(_ number: Double) -> String {
        switch number {
        case ..<0.095: plain((number * 1000).rounded() / 1000)
        case ..<9.95: plain((number * 100).rounded() / 100)
        case ..<999.5: plain(number.rounded())
        case ..<9950: "\(plain((number / 100).rounded() / 10))k"
        case ..<999_500: "\(plain((number / 1000).rounded()))k"
        default: "\(plain((number / 100_000).rounded() / 10))M"
        }
    }

    private static func plain(_ number: Double) -> String {
        number == number.rounded() && number.magnitude < 1e15 ? "\(Int(number))" : "\(number)"
    }
}
