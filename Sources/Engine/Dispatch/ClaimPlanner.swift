// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Decides what to claim: from which tracks, in which lanes, and when to look for jobs that no notification has
/// announced. Pure.
struct ClaimPlanner {
    var tracks = KnownTracks()
    private var surveyCursor = SurveyCursor()
    /// The survey under way, or the last one.
    private(set) var surveyStep = SurveyCursor.Step(after: 0, limit: 0, newest: nil, above: nil)
    /// The permits of lanes with limits.
    var lanes = LanePermits()
    private var pickup: PickupMode
    private(set) var schedule = PollSchedule()
    /// Where a claim may find jobs.
    private var scope = ClaimScope.anywhere
    /// The highest fence of all claimed jobs.
    private var lastFence: Int64 = 0

    /// A planner that knows no tracks.
    init(canListen: Bool) { pickup = PickupMode(canListen: canListen) }

    /// Whether a claim may find jobs in a known track.
    var mayFindJobs: Bool { scope != .nowhere && tracks.canVisit }

    /// Whether some known work is free of lane limits.
    var hasBacklog: Bool { tracks.hasBacklog }

    /// Lets the next claim search all tracks.
    mutating func widen() {
        // The announced job may stand below the watermark of its track.
        if case .announced = scope { schedule.wantsSurvey = true }
        scope = .anywhere
    }

    /// Whether the next claim waits for a survey. Ask only if a claim could be sent.
    mutating func holdsClaim(now: UInt64) -> Bool { scope == .anywhere && schedule.holdsClaim(now: now) }

    /// Until when claims of all tracks are held back; nil if they are not.
    func holdEnd(now: UInt64) -> UInt64? { schedule.heldUntil > now ? schedule.heldUntil : nil }

    /// How many rows a claim for so many slots may bring.
    mutating func expected(of slots: Int, now: UInt64) -> Int {
        slots > 0 ? tracks.expected(of: slots, lanes: &lanes, now: now) : 0
    }

    /// The next claim. Nil if none is to be sent, or if all known jobs wait in parked tracks.
    ///
    /// - Parameters:
    ///   - slots: the slots that it may fill; 0 if no claim may be sent.
    ///   - isAlone: whether no attempt is to be written, and no exchange is under way.
    ///   - inFlight: how many calls run, by track.
    mutating func next(
        slots: Int, isAlone: Bool, takesLeasesOnly: Bool, inFlight: [Int32: Int], now: UInt64
    ) -> Exchange.Claim? {
        let single = isAlone && !takesLeasesOnly ? singleClaim(now: now) : nil
        let claim = slots > 0 ? single ?? wholeClaim(slots, takesLeasesOnly, inFlight, now: now) : nil
        if claim?.announced != nil {
            // No claim of all tracks follows before this answer has arrived.
            scope = .nowhere
            return claim
        }
        if case .announced = scope { widen() }
        // If no track can be visited, all known jobs wait in parked tracks.
        if slots > 0, claim == nil { scope = .nowhere }
        return claim
    }

    /// A claim of all tracks with work, nil if none can be visited.
    private mutating func wholeClaim(
        _ slots: Int, _ takesLeasesOnly: Bool, _ inFlight: [Int32: Int], now: UInt64
    ) -> Exchange.Claim? {
        schedule.claimBegan()
        let limit = min(slots, ExchangePolicy.claimLimit)
        let visits = tracks.plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: now)
        guard !visits.isEmpty else { return nil }
        return Exchange.Claim(
            limit: limit, visits: visits, above: lastFence, sentAt: now, takesLeasesOnly: takesLeasesOnly)
    }

    /// A claim of the one announced job, if no other job is known to wait.
    private func singleClaim(now: UInt64) -> Exchange.Claim? {
        guard lanes.isEmpty, now >= schedule.singleDue, case .announced(let job) = scope,
            let visit = tracks.visit(announced: job.track)
        else { return nil }
        return Exchange.Claim(limit: 1, visits: [visit], above: lastFence, sentAt: now, announced: job)
    }

    /// Records a claimed row.
    mutating func rowCame(_ lease: Lease) { lastFence = max(lastFence, lease.fence) }

    /// Records that the last row of a claim was read.
    mutating func claimRead(_ arrival: Arrival, now: UInt64) -> PickupMode.Change {
        let claim = arrival.claim
        if arrival.rows > 0 { schedule.claimCaught(now: now) }
        if claim.announced != nil { return singleClaimRead(arrival, now: now) }
        tracks.claimReturned(claim.visits, limit: claim.limit, found: arrival.found)
        if !lanes.isEmpty {
            giveBack(claim, found: arrival.found, now: now)
            lanes.claimTook(now - min(now, claim.sentAt))
        }
        if claim.isOutdated || arrival.rows == claim.limit || tracks.hasHotTracks {
            widen()
        } else {
            scope = .nowhere
        }
        let change = pickup.claimReturned(rows: arrival.rows, limit: claim.limit)
        setPace(now: now)
        schedule.hasRoom = arrival.rows < claim.limit
        return change
    }

    private mutating func singleClaimRead(_ arrival: Arrival, now: UInt64) -> PickupMode.Change {
        tracks.claimReturned(arrival.claim.visits, limit: .max, found: arrival.found)
        if arrival.rows == 0 {
            // The job may have been committed late, below the watermark of its track.
            schedule.wantsSurvey = true
            widen()
            schedule.singleClaimFailed(now: now)
            return .none
        }
        // The next poll stays where it is: it finds jobs that no notification has announced.
        return pickup.claimReturned(rows: arrival.rows, limit: .max)
    }

    /// Releases the permits that a claim reserved and did not use.
    mutating func giveBack(
        _ claim: Exchange.Claim, found: [Int32: (count: Int, last: Int64)] = [:], now: UInt64
    ) {
        for visit in claim.visits where visit.lane != 0 {
            lanes.unreserve(visit.lane, Int(visit.cap) - (found[visit.track]?.count ?? 0), now: now)
        }
    }

    /// Records that attempts are stored.
    ///
    /// - Parameter claims: whether a claim was part of the same transaction.
    mutating func attemptsStored(_ attempts: [FinishedAttempt], _ followUp: FollowUp, claims: Bool) {
        // The next step of a chain may be ready.
        if followUp.contains(.tree) { widen() }
        // A claim in the same transaction runs after the finish, so it has seen the next page.
        if followUp.contains(.page), !claims {
            widen()
            schedule.claimIsInformed()
        }
        if followUp.contains(.oldPlace) { schedule.wantsSurvey = true }
        for place in attempts.indices where [.held, .onward].contains(attempts[place].verdict.kind) {
            tracks.stepBack(attempts[place].lease.track, to: attempts[place].lease.seq)
        }
    }

    /// Records that the worker has another number, perhaps in a database with other tracks, seqs and lanes.
    mutating func enlisted(isOtherDatabase: Bool) {
        if isOtherDatabase {
            tracks = KnownTracks()
            surveyCursor = SurveyCursor()
            lanes = LanePermits()
        }
        lanes.requestAgain()
        pickup.connectionLost()
        widen()
        schedule = PollSchedule()
    }

    // MARK: notifications, polls and surveys

    /// Whether INSERTs notify this worker.
    var isListening: Bool { pickup.isListening }

    /// Records that INSERTs notify this worker from now on. A job may have arrived between the last look and this
    /// moment, perhaps in an unknown track.
    mutating func listeningBegan() {
        widen()
        schedule.wantsSurvey = true
    }

    /// Records that INSERTs notify this worker no longer, because its row or its session is gone.
    mutating func listeningEnded() { pickup.connectionLost() }

    /// Records a notification about new jobs. If no other job is known to wait, a claim of one announced job is enough.
    /// Jobs on known tracks ask for no survey.
    mutating func jobsAnnounced(_ announcement: Announcement, now: UInt64) -> PickupMode.Change {
        for job in announcement.jobs where tracks.hasPassed(job.track, job.id) { surveyCursor.mayBeLate(job.id) }
        switch announcement {
        case .job(let job) where tracks.visit(announced: job.track) != nil:
            switch scope {
            case .nowhere: scope = .announced(job)
            case .announced:
                widen()
                schedule.claimIsInformed()
            case .anywhere: schedule.wantsSurvey = true
            }
        case .ready(let jobs) where jobs.allSatisfy { tracks.announced($0.track, from: $0.id) }: widen()
        default:
            // A job that it does not name may have been committed late.
            if announcement.jobs.isEmpty { surveyCursor.beginRound() }
            schedule.mayLookAtOnce()
            widen()
        }
        return pickup.notified(now: now)
    }

    /// Records that batches or chains have settled an ended member. Their next members may be ready.
    mutating func treesChanged() { widen() }

    /// Lets a claim of announced jobs in a known track go before a survey.
    mutating func claimGoesFirst(until moment: UInt64) { schedule.claimGoesFirst(until: moment) }

    /// Records a notification about jobs that wait for a new track.
    mutating func trackIsAwaited(now: UInt64) { schedule.trackIsAwaited(now: now) }

    /// Records that the leader has created the tracks.
    mutating func trackWasMade() { schedule.trackWasMade() }

    /// Polls and surveys at once, because the duties session is new or lost.
    mutating func lookAgain() {
        schedule = PollSchedule()
        // Jobs may have been committed late meanwhile, without a notification.
        surveyCursor.beginRound()
    }

    /// Whether a heartbeat counts the workers of the same queues. It counts as sent.
    mutating func beatBegins() -> Bool { pickup.beatBegins() }

    /// Whether other workers listen in the place of this one.
    var isStandingBy: Bool { pickup.isStandingBy }

    /// Records how many workers of the same queues there are, as of a heartbeat.
    mutating func peersCounted(listeners: Int, peers: Int, now: UInt64) -> PickupMode.Change {
        let change = pickup.counted(listeners: listeners, peers: peers)
        if change != .none { setPace(now: now) }
        schedule.fallback = pickup.fallback
        return change
    }

    private mutating func setPace(now: UInt64) {
        schedule.poll = now + pickup.interval
        schedule.fallback = pickup.fallback
    }

    /// Looks for unannounced jobs when the poll interval is over.
    ///
    /// - Parameter isIdle: whether no exchange is under way.
    mutating func poll(isIdle: Bool, now: UInt64) -> PickupMode.Change {
        guard now >= schedule.poll else { return .none }
        schedule.poll = now + pickup.interval
        guard isIdle else { return .none }
        widen()
        // Announced jobs cause a claim already. This poll is for all others, so its claim needs no survey.
        if pickup.isListening { schedule.claimIsInformed() }
        guard !tracks.canVisit else { return .none }
        // Without a track to claim from, no claim can come back empty. So the poll counts as an empty claim.
        let change = pickup.claimReturned(rows: 0, limit: 1)
        setPace(now: now)
        return change
    }

    /// Whether to send a survey now. True counts it as sent.
    mutating func surveyBegins(now: UInt64) -> Bool {
        guard now >= schedule.surveyDue else { return false }
        tracks.ageMarks(now: now)
        schedule.surveyBegan(now: now)
        surveyStep = surveyCursor.next(tracks)
        return true
    }

    /// Records the answer of a survey.
    mutating func surveyReturned(_ found: SurveyCursor.Found, now: UInt64) {
        surveyCursor.returned(found, of: surveyStep, took: now - min(now, schedule.surveys.began ?? now))
        schedule.surveyReturned(now: now, hasMore: !surveyCursor.isRoundComplete, slices: surveyCursor.sliceCount)
        tracks.surveyReturned(found.sightings, lanes: &lanes)
        if !found.sightings.isEmpty {
            widen()
            schedule.claimIsInformed()
        }
    }

    /// When to look for jobs again if nothing happens before.
    func nextLook(canSurvey: Bool) -> UInt64 {
        canSurvey ? min(schedule.poll, schedule.surveyDue) : schedule.poll
    }
}
