// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

extension StoreCalls {
    /// `acquire_lane_permits`: requests permits and rate slots of lanes with limits.
    public static func acquireLanePermits(
        worker: Int32, _ requests: [LaneRequest], into parameters: inout PGParameters
    ) {
        var lanes = PGArrayBuilder<Int32>()
        var used = PGArrayBuilder<Int32>()
        var hold = PGArrayBuilder<Int32>()
        var slots = PGArrayBuilder<Int32>()
        for request in requests {
            lanes.append(request.lane)
            used.append(request.used)
            hold.append(request.hold)
            slots.append(request.slots)
        }
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(array: lanes)
        parameters.append(array: used)
        parameters.append(array: hold)
        parameters.append(array: slots)
    }

    /// The database's clock during the answer, in microseconds since 1970. The answer must have a row.
    public static func grantedAt(_ result: borrowing PGResult) -> Int64 { result.int64(0, PermitColumn.nowUs) }

    /// The grants in the rows. Their times are by the worker's clock.
    public static func grants(_ result: borrowing PGResult, clock: DatabaseClock) -> [LaneGrant] {
        var grants: [LaneGrant] = []
        grants.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            let slots: Int32? = result.isNull(row, PermitColumn.slots) ? nil : result.int32(row, PermitColumn.slots)
            let first = slots == nil ? 0 : clock.local(microseconds: result.int64(row, PermitColumn.firstUs)) ?? 0
            grants.append(
                LaneGrant(
                    lane: result.int32(row, PermitColumn.lane),
                    permits: result.isNull(row, PermitColumn.permits) ? nil : result.int32(row, PermitColumn.permits),
                    share: result.int32(row, PermitColumn.share), slots: slots, first: first,
                    spacing: UInt64(clamping: slots == nil ? 0 : result.int64(row, PermitColumn.spacingUs)) &* 1000,
                    tolerance: UInt64(clamping: slots == nil ? 0 : result.int64(row, PermitColumn.lateUs)) &* 1000))
        }
        return grants
    }
}
