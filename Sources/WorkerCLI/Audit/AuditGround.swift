// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HostileTarget
internal import JobModel

/// What an audit plays on: three servers and a folder of its own, on this machine.
final class AuditGround: Sendable {
    /// What calls are made to.
    let first: HostileServer
    /// Another origin, which redirects lead to.
    let second: HostileServer
    /// What the environment names as a proxy after `setTrap`; nobody may come to it.
    let trap: HostileServer
    /// Where files may be, and where they may not.
    let folder: AuditFolder

    /// What `/ok` answers.
    static let innocentBody = [UInt8]("ok".utf8)

    /// Below the range from which the system takes ports by itself.
    private static let ports: ClosedRange<UInt16> = 24_100...24_399

    /// Starts the servers and makes the folder.
    init() throws(CommandError) {
        do throws(HostileServer.NoFreePort) {
            first = try HostileServer(ports: AuditGround.ports)
            second = try HostileServer(ports: AuditGround.ports)
            trap = try HostileServer(ports: AuditGround.ports)
        } catch {
            throw CommandError(
                .internalError,
                "no loopback port of \(error.ports.lowerBound) to \(error.ports.upperBound) could be served; free one")
        }
        folder = try AuditFolder()
    }

    /// Names the trap as a proxy in the environment of this process; before there are threads that look at it.
    func setTrap() {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            unsafe setenv(name, trap.url(""), 1)
        }
        for name in ["no_proxy", "NO_PROXY"] { unsafe unsetenv(name) }
    }

    /// A call to the first server, with private addresses allowed and limits that make the audit short.
    func call(
        _ path: String, method: HTTPMethod = .get, query: [FormField] = [], headers: [HTTPHeader] = [],
        body: RequestBody = .none, limits: CallLimits = AuditGround.limits
    ) -> HTTPCall {
        HTTPCall(
            method: method, url: first.url(path), query: query, headers: headers, body: body, limits: limits,
            allowsPrivateNetwork: true)
    }

    /// Those of calls that need no others.
    static let limits = CallLimits(total: .seconds(5), connect: .seconds(2), maxResponseBytes: 1 << 20)
}
