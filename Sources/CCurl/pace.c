// SPDX-License-Identifier: Apache-2.0
//
// How fast a transfer is, and the limits for it that libcurl does not keep.
#include "internal.h"

ccurl_pace ccurl_transfer_check_pace(ccurl_transfer *t, int64_t now, int64_t *next) {
    const int64_t second = 1000000000;
    if (!t->pool) return CCURL_ON_TIME;
    if (t->https) {
        // A call that waits for the connection which another one is opening (PIPEWAIT) has no timer in libcurl 7.88, and once
        // that one has failed it begins its own connect limit anew. 50 ms more, so that libcurl ends what it does keep.
        int64_t limit = t->sendings ? t->total_ms : t->connect_ms;
        int64_t deadline = t->started_ns + (limit + 50) * (second / 1000);
        if (limit && deadline <= now) {
            t->cut_off = true;
            return CCURL_OVERDUE;
        }
        if (limit && deadline < *next) *next = deadline;
    }
    if (t->own_total_ms && !t->waits_for_room) {
        int64_t deadline = t->started_ns + t->own_total_ms * (second / 1000) + t->room_waited;
        if (deadline <= now) {
            t->cut_off = true;
            return CCURL_OVERDUE;
        }
        if (deadline < *next) *next = deadline;
    }
    // While the disk or this worker's memory is what we wait for, the server is not slow. The next look is set all the same: only a new sending
    // would set it again, and a server that stalls behind the pause would hold its slot for ever.
    if (t->paused || t->awaited || t->waits_for_room) {
        t->window_began = 0;
        if (t->low_speed_ns && now + second < *next) *next = now + second;
        return CCURL_ON_TIME;
    }
    if (t->first_byte_ns && !t->answering && t->sendings > 0) {
        int64_t deadline = t->wait_began + t->first_byte_ns;
        if (deadline <= now) {
            t->cut_off = true;
            return CCURL_FIRST_BYTE_LATE;
        }
        if (deadline < *next) *next = deadline;
    } else if (t->first_byte_ns && !t->answering) {
        // Not yet connected: the wait may begin at any time, so look again after one limit.
        if (now + t->first_byte_ns < *next) *next = now + t->first_byte_ns;
    }
    if (!t->low_speed_ns || t->low_speed_bytes <= 0) return CCURL_ON_TIME;
    if (now + second < *next) *next = now + second;
    // A server that thinks before it answers is not slow; only a body that crawls is. Without any other limit for its
    // thinking it would hold its slot for ever.
    bool endless = !t->total_ms && !t->first_byte_ns && t->sendings > 0;
    bool flowing = t->answering || endless || (t->uploaded > 0 && t->uploaded < t->upload_total);
    int64_t bytes = t->uploaded + t->received + (int64_t)t->head_total;
    if (!flowing || !t->window_began) {
        t->window_began = now;
        t->window_bytes = bytes;
        t->slow_since = 0;
        return CCURL_ON_TIME;
    }
    if (now - t->window_began < second * 9 / 10) return CCURL_ON_TIME;
    bool slow = (bytes - t->window_bytes) < (int64_t)((double)t->low_speed_bytes * (double)(now - t->window_began) / 1e9);
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

ccurl_progress ccurl_transfer_progress(const ccurl_transfer *t, int64_t now) {
    int64_t running = t->started_ns ? now - t->started_ns : 0;
    return (ccurl_progress){running, t->uploaded, t->upload_total, t->received, t->answer_total};
}
