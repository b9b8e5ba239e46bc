// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer
public import Engine
internal import Glibc
internal import JobModel
public import PGClient

/// Serves a worker's pages on separate threads: `/healthz`, `/readyz`, `/metrics` and the dashboard.
///
/// The pages must answer while the loop hangs or the database does not answer. So they share nothing with either: the
/// loop's state is in `WorkerHealth`, and health never asks the database (decision 22).
public final class AdminServer: Sendable {
    /// The state that the worker's loop writes and the pages read.
    public let workerHealth = WorkerHealth()
    /// The counters and histograms that the worker's loop writes and `/metrics` shows.
    public let workerMetrics = WorkerMetrics()
    private let slots: Int
    private let gate: AdminGate
    private let fleet: ReadOnlyDatabase
    private let dashboard: Dashboard
    /// The acts of admins; nil: the pages only read.
    private let actions: Actions?

    /// A server that is not started.
    ///
    /// - Parameters:
    ///   - slots: the worker's maximum number of calls in flight.
    ///   - database: the database of metrics and dashboard, opened by the first reader of each.
    ///   - token: the token that readers must send; nil: none. `/healthz` and `/readyz` return one sentence only and
    ///     never need it.
    ///   - actions: the settings of acts; nil, or without a token: the pages only read.
    public init(slots: Int, database: PGConnectionString, token: AdminToken?, actions: ActionSettings? = nil) {
        self.slots = slots
        gate = AdminGate(token: token)
        // Two connections, so that a slow page does not delay a collector of metrics.
        fleet = ReadOnlyDatabase(database)
        let pages = ReadOnlyDatabase(database)
        self.actions = token == nil ? nil : actions.map { Actions($0, pages: pages) }
        dashboard = Dashboard(pages, actsAllowed: self.actions != nil)
    }

    /// Starts serving. Call it at most once in a process, and after signals are blocked: its threads must not receive
    /// them.
    ///
    /// - Throws: an error if the address cannot be bound.
    ///
    /// C: `MHD_start_daemon`.
    public func start(at address: AdminAddress) throws(AdminError) {
        let context = unsafe Unmanaged.passRetained(self)
        let error = unsafe chttpserver_start(
            address.host, address.port, actions == nil ? nil : Actions.path,
            { context, exchange in
                guard let context = unsafe context else { return }
                let server = unsafe Unmanaged<AdminServer>.fromOpaque(context).takeUnretainedValue()
                let response = unsafe server.response(to: AdminRequest(exchange))
                if let filename = response.filename { unsafe chttpserver_name_file(exchange, filename) }
                let body = response.bytes ?? Array(response.body.utf8)
                unsafe chttpserver_answer(
                    exchange, response.status, response.type, response.location, body, body.count)
            }, context.toOpaque())
        guard error == 0 else {
            unsafe context.release()
            throw AdminError(reason: "cannot be bound: \(unsafe String(cString: strerror(error)))")
        }
    }

    /// Stops serving. It waits up to a second for running answers, so that the process does not end during one.
    ///
    /// C: `MHD_quiesce_daemon`.
    public func stop() {
        actions?.stop()
        chttpserver_stop(1000)
    }

    /// The response to a request. It is called on threads of the server.
    func response(to request: AdminRequest) -> AdminResponse {
        let condition = workerHealth.condition
        switch request.path {
        case "/healthz":
            if case .stalled = condition { return AdminResponse(status: 503, body: AdminServer.words(for: condition)) }
            return AdminResponse(status: 200, body: "ok\n")
        case "/readyz":
            return AdminResponse(status: condition == .ready ? 200 : 503, body: AdminServer.words(for: condition))
        default:
            if let refusal = gate.refusal(of: request) { return refusal }
            if request.path == "/metrics" {
                return AdminResponse(status: 200, type: MetricsText.contentType, body: metrics)
            }
            if let actions, request.path == Actions.path { return actions.response(to: request) }
            return dashboard.response(to: request)
        }
    }

    private static func words(for condition: WorkerHealth.Condition) -> String {
        switch condition {
        case .ready: "ready\n"
        case .draining: "draining: the worker claims no more jobs\n"
        case .disconnected: "the database cannot be reached; the worker reconnects as soon as it can\n"
        case .refused(let results, let seconds):
            "the database has refused all results for \(seconds) s; \(results) results wait to be written again\n"
        case .stalled(let seconds): "the worker has been stuck for \(seconds) s; see its log, and restart it\n"
        }
    }

    private var metrics: String {
        var metrics = MetricsText()
        metrics.family("postrider_build_info", .gauge, "1, with the version of this worker.")
        metrics.sample("postrider_build_info", ["version": "\(ProductVersion.current)"], 1)
        metrics.single("postrider_worker_slots", .gauge, "Calls that this worker may have in flight.", Double(slots))
        metrics.single(
            "postrider_worker_calls_in_flight", .gauge, "Calls that this worker has in flight.",
            Double(workerHealth.calls))
        metrics.single(
            "postrider_worker_results_waiting", .gauge,
            "Results that the database has refused and that this worker writes again.",
            Double(workerHealth.waitingResults))
        metrics.single(
            "postrider_worker_ready", .gauge, "1 while this worker claims jobs.",
            workerHealth.condition == .ready ? 1 : 0)
        metrics.single(
            "postrider_spans_dropped_total", .counter,
            "Spans that this worker dropped, because the collector did not take them.",
            Double(workerHealth.droppedSpans))
        CounterMetrics.append(workerMetrics.counters, to: &metrics)
        // Only one collector reads at a time. Another one gives up after 0.5 s (50 checks), so a hanging database
        // blocks few threads.
        let fleet = (try? fleet.read(waits: 50, FleetMetrics.read)).flatMap(\.self)
        if let fleet { metrics.append(fleet) }
        metrics.single(
            "postrider_database_up", .gauge,
            "1 if the database has answered; otherwise the metrics of the fleet are missing.",
            fleet == nil ? 0 : 1)
        return metrics.text
    }
}
