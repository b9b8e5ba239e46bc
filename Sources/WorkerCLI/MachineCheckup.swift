// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPAgent

/// What `worker doctor` finds on this machine.
enum MachineCheckup {
    /// Descriptors that a worker has beside its calls: sessions, poller, signals, files of libraries.
    private static let descriptorsBeside = 64

    /// libcurl, and the limits of this process.
    static func findings(concurrency: Int) -> [Finding] {
        [transport(), descriptors(concurrency)]
    }

    private static func transport() -> Finding {
        do throws(AgentError) {
            let features = try TransportFeatures()
            return features.speaksHTTP2
                ? Finding(.ok, "libcurl", "\(features.version), with HTTP/2")
                : Finding(
                    .notice, "libcurl",
                    "\(features.version) without HTTP/2: each call takes a connection; install Debian's libcurl4")
        } catch {
            return Finding(.fault, "libcurl", error.message)
        }
    }

    /// A call takes a socket, and one that redirects or downloads another descriptor. C: `getrlimit(RLIMIT_NOFILE)`.
    private static func descriptors(_ concurrency: Int) -> Finding {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let needed = 2 * concurrency + descriptorsBeside
        guard limit.rlim_cur < needed else {
            return Finding(.ok, "descriptors", "\(limit.rlim_cur) allowed, \(needed) needed at most")
        }
        return Finding(
            .fault, "descriptors",
            "\(limit.rlim_cur) allowed, \(needed) may be needed; start the worker with ulimit -n \(needed), or lower --concurrency"
        )
    }
}
