// SPDX-License-Identifier: Apache-2.0

/// How far a worker is registered, and whether it drains. Pure.
///
/// ```
/// unregistered ──requestNumber──► registering ──numberGiven──► active ◄──heartbeats──► unheard
///      ▲  └────────────requestFailed───┘ │                        │                       │
///      └──numberLost─────────────────────┴────────────────────────┴───────────────────────┘
/// ```
/// A drain may begin in each of these states, and does not end. A draining worker goes on to register and to lose its
/// number, because it must store its results. So `working` and `draining` both have a registration.
enum Lifecycle: Equatable {
    /// The worker takes new jobs while its registration is active.
    case working(Registration)
    /// The worker takes no new jobs.
    case draining(Registration)

    /// The worker's number in the database. It is lost with the claiming connection.
    enum Registration: Equatable {
        /// The worker has no number. The next one takes over the leases of `former`, which is 0 before the first one.
        case unregistered(former: Int32)
        /// A request for a number is under way.
        case registering(former: Int32)
        /// The worker has this number.
        case active(worker: Int32)
        /// No heartbeat has reached the database for so long that other workers may declare this one lost. They would
        /// then call newly claimed jobs a second time.
        case unheard(worker: Int32)
    }

    /// A worker that has not started.
    init() { self = .working(.unregistered(former: 0)) }

    private var registration: Registration {
        get {
            switch self {
            case .working(let registration), .draining(let registration): registration
            }
        }
        set {
            switch self {
            case .working: self = .working(newValue)
            case .draining: self = .draining(newValue)
            }
        }
    }

    /// The worker's number; 0 while it has none.
    var worker: Int32 {
        switch registration {
        case .active(let worker), .unheard(let worker): worker
        case .unregistered, .registering: 0
        }
    }

    /// The number whose leases the next number takes over.
    private var former: Int32 {
        switch registration {
        case .active(let worker), .unheard(let worker): worker
        case .unregistered(let former), .registering(let former): former
        }
    }

    var isDraining: Bool {
        if case .draining = self { true } else { false }
    }

    var isUnheard: Bool {
        if case .unheard = registration { true } else { false }
    }

    /// Whether the worker takes new jobs.
    var takesJobs: Bool {
        if case .working(.active) = self { true } else { false }
    }

    /// Gives the number up and begins to request another one.
    ///
    /// - Returns: the number whose leases the next one takes over, or 0. Nil if a request is under way.
    mutating func requestNumber() -> Int32? {
        if case .registering = registration { return nil }
        let former = former
        registration = .registering(former: former)
        return former
    }

    /// Records that the request could not be sent, or was refused.
    mutating func requestFailed() {
        if case .registering(let former) = registration { registration = .unregistered(former: former) }
    }

    /// Records the new number.
    mutating func numberGiven(_ worker: Int32) { registration = .active(worker: worker) }

    /// Records that the claiming connection is lost, and the number or the request with it.
    mutating func numberLost() { registration = .unregistered(former: former) }

    /// Records whether heartbeats reach the database. A worker without a number sends none.
    mutating func heartbeats(areOverdue: Bool) {
        switch registration {
        case .active(let worker), .unheard(let worker):
            registration = areOverdue ? .unheard(worker: worker) : .active(worker: worker)
        case .unregistered, .registering: break
        }
    }

    /// Begins the drain.
    mutating func drain() { self = .draining(registration) }
}
