// SPDX-License-Identifier: Apache-2.0
//
// The speed of a transfer, and the limits that libcurl does not enforce.
#include "transfer.h"

/// Whether a deadline has passed, so that the call ends. Otherwise the next check is at that time or earlier.
static bool is_overdue(ccurl_transfer *t, int64_t deadline, int64_t now, int64_t *next) {
    if (deadline <= now) t->cut_off = true;
    else if (deadline < *next) *next = deadline;
    return deadline <= now;
}

ccurl_pace ccurl_transfer_check_pace(ccurl_transfer *t, int64_t now, int64_t *next) {
    const int64_t second = 1000000000;
    if (!t->pool) return CCURL_ON_TIME;
    if (t->shares_http2) {
        // A call that waits for the connection which another call opens (PIPEWAIT) has no timer in libcurl 7.88. If
        // that connection fails, libcurl starts its connect limit again. The extra 50 ms let libcurl itself end the
        // calls whose limits it enforces.
        int64_t limit = t->sendings ? t->total_ms : t->connect_ms;
        int64_t deadline = t->started_ns + (limit + 50) * (second / 1000);
        if (limit && is_overdue(t, deadline, now, next)) return CCURL_OVERDUE;
    }
    if (t->own_total_ms && !t->waits_for_room) {
        int64_t deadline = t->started_ns + t->own_total_ms * (second / 1000) + t->room_waited;
        if (is_overdue(t, deadline, now, next)) return CCURL_OVERDUE;
    }
    // While the call waits for the disk or for this worker's memory, the server is not slow. The next check must still
    // be set, because otherwise only a new sending would set it. If the server stalled after the pause, the call would
    // keep its slot permanently.
    if (t->paused || t->awaited || t->waits_for_room) {
        t->window_began = 0;
        if (t->low_speed_ns && now + second < *next) *next = now + second;
        return CCURL_ON_TIME;
    }
    if (t->first_byte_ns && !t->answering && t->sendings > 0) {
        if (is_overdue(t, t->wait_began + t->first_byte_ns, now, next)) return CCURL_FIRST_BYTE_LATE;
    } else if (t->first_byte_ns && !t->answering) {
        // The call is not connected yet. The wait may begin at any time, so the next check follows after one limit.
        if (now + t->first_byte_ns < *next) *next = now + t->first_byte_ns;
    }
    if (!t->low_speed_ns || t->low_speed_bytes <= 0) return CCURL_ON_TIME;
    if (now + second < *next) *next = now + second;
    // A server that works before it answers is not slow. Only a slow body counts. If no other limit covers that time,
    // the speed limit applies, since the call could otherwise keep its slot permanently.
    bool endless = !t->total_ms && !t->first_byte_ns && t->sendings > 0;
    bool flowing = t->answering || endless || (t->uploaded > 0 && t->uploaded < t->upload_total);
    int64_t bytes = t->uploaded + t->received + (int64_t)t->head_total;
    if (!flowing || !t->window_began) {
        t->window_began = now;
        t->window_bytes = bytes;
        t->slow_since = 0;
        return CCURL_ON_TIME;
    }
    // A window lasts about a second. A check may come a little early.
    if (now - t->window_began < second * 9 / 10) return CCURL_ON_TIME;
    double seconds = (double)(now - t->window_began) / 1e9;
    bool slow = bytes - t->window_bytes < (int64_t)((double)t->low_speed_bytes * seconds);
    if (!slow) {
        t->slow_since = 0;
    } else {
        if (!t->slow_since) t->slow_since = t->window_began;
        if (now - t->slow_since >= t->low_speed_ns) {
            t->cut_off = true;
            return CCURL_TOO_SLOW;
        }
    }
    t->window_began = now;
    t->window_bytes = bytes;
    return CCURL_ON_TIME;
}

/// When libcurl reached a step, in nanoseconds of CLOCK_MONOTONIC; 0: not yet.
static int64_t reached(const ccurl_transfer *t, CURLINFO step) {
    curl_off_t us = 0;
    curl_easy_getinfo(t->easy, step, &us);
    return us > 0 ? t->started_ns + us * 1000 : 0;
}

/// The phase, and when it began.
static ccurl_phase find_phase(const ccurl_transfer *t, int64_t *began) {
    *began = t->started_ns;
    if (t->waits_for_room) {
        *began = t->room_since;
        return CCURL_PHASE_ROOM;
    }
    if (t->sendings > 0) {
        int64_t sends = reached(t, CURLINFO_PRETRANSFER_TIME_T);
        if (sends) *began = sends;
        if (t->answering) {
            int64_t first = reached(t, CURLINFO_STARTTRANSFER_TIME_T);
            if (first) *began = first;
            return CCURL_PHASE_RECEIVE;
        }
        if (t->awaited) return CCURL_PHASE_FILE;
        if (t->uploaded < t->upload_total) return CCURL_PHASE_SEND;
        if (t->wait_began) *began = t->wait_began;
        return CCURL_PHASE_FIRST_BYTE;
    }
    int64_t named = reached(t, CURLINFO_NAMELOOKUP_TIME_T);
    if (named) {
        *began = named;
        // libcurl 7.88 sets the time of the connect only when TLS is done. The local port is known earlier.
        int64_t connected = reached(t, CURLINFO_CONNECT_TIME_T);
        if (connected) *began = connected;
        long port = 0;
        curl_easy_getinfo(t->easy, CURLINFO_LOCAL_PORT, &port);
        return t->asks_tls && (connected || port > 0) ? CCURL_PHASE_TLS : CCURL_PHASE_CONNECT;
    }
    return t->facts.looked_up ? CCURL_PHASE_DNS : CCURL_PHASE_CONNECTION;
}

/// When the first limit that applies to this phase ends the call; 0: none.
static int64_t find_deadline(const ccurl_transfer *t, ccurl_phase phase) {
    const int64_t ms = 1000000;
    int64_t deadline = 0;
    if (phase == CCURL_PHASE_ROOM) return 0;
    if (t->own_total_ms) deadline = t->started_ns + t->own_total_ms * ms + t->room_waited;
    else if (t->total_ms) deadline = t->started_ns + t->total_ms * ms;
    int64_t own = 0;
    if (phase == CCURL_PHASE_FIRST_BYTE && t->first_byte_ns) own = t->wait_began + t->first_byte_ns;
    // The phases up to TLS come before the request.
    if (phase <= CCURL_PHASE_TLS && t->connect_ms) own = t->started_ns + t->connect_ms * ms;
    return own && (!deadline || own < deadline) ? own : deadline;
}

ccurl_progress ccurl_transfer_progress(const ccurl_transfer *t) {
    ccurl_progress p = {t->uploaded, t->upload_total, t->received, t->answer_total, CCURL_PHASE_CONNECTION, 0, 0};
    if (!t->started_ns || !t->pool) return p;
    p.phase = find_phase(t, &p.phase_ns);
    p.deadline_ns = find_deadline(t, p.phase);
    return p;
}
