// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HostileTarget
internal import JobModel

/// The local environment of an audit: three servers and a directory.
final class AuditGround: Sendable {
    /// The server that calls are made to.
    let first: HostileServer
    /// A second origin, to which redirects lead.
    let second: HostileServer
    /// The server that the environment names as a proxy after `setTrap`. No call may connect to it.
    let trap: HostileServer
    /// The directory with allowed and forbidden files.
    let folder: AuditFolder

    /// The answer of `/ok`.
    static let innocentBody = [UInt8]("ok".utf8)

    /// Ports below the range from which the system assigns ports.
    private static let ports: ClosedRange<UInt16> = 24_100...24_399

    /// Starts the servers and creates the directory.
    init() throws(CommandError) {
        do throws(HostileServer.NoFreePort) {
            first = try HostileServer(ports: AuditGround.ports)
            second = try HostileServer(ports: AuditGround.ports)
            trap = try HostileServer(ports: AuditGround.ports)
        } catch {
            throw CommandError(
                .internalError,
                "no loopback port of \(error.ports.lowerBound) to \(error.ports.upperBound) could be used; free one")
        }
        folder = try AuditFolder()
    }

    /// Sets the trap as a proxy in the environment of this process. Call it before other threads read the environment.
    func setTrap() {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            unsafe setenv(name, trap.url(""), 1)
        }
        for name in ["no_proxy", "NO_PROXY"] { unsafe unsetenv(name) }
    }

    /// A call to the first server. Private addresses are allowed, and short limits keep the audit short.
    func call(
        _ path: String, method: HTTPMethod = .get, query: [FormField] = [], headers: [HTTPHeader] = [],
        body: RequestBody = .none, limits: CallLimits = AuditGround.limits
    ) -> HTTPCall {
        HTTPCall(
            method: method, url: first.url(path), query: query, headers: headers, body: body, limits: limits,
            allowsPrivateNetwork: true)
    }

    /// The limits of ordinary calls.
    static let limits = CallLimits(total: .seconds(5), connect: .seconds(2), maxResponseBytes: 1 << 20)
}
