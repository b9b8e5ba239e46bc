// SPDX-License-Identifier: Apache-2.0
//
// Room for answers. A transfer keeps as much of its answer as its owner has granted. Then it pauses until it is granted
// more.
#include "transfer.h"

bool ccurl_lacks_room(const ccurl_transfer *t, size_t more) {
    int64_t length = (int64_t)(t->answer.length + more);
    // More room does not help an answer above its limit.
    return length > t->room && length <= t->answer_limit;
}

static void leave_list(ccurl_transfer *t) {
    if (t->waits_for_room) ccurl_waiting_leave(t, FOR_ROOM);
    t->waits_for_room = false;
}

size_t ccurl_wait_for_room(ccurl_transfer *t) {
    if (!t->waits_for_room) {
        t->waits_for_room = true;
        t->room_since = ccurl_now();
        ccurl_waiting_join(t, FOR_ROOM);
    }
    // The server is not responsible for this wait. libcurl's clock cannot be stopped, so this library enforces the
    // limit from now on (pace.c).
    if (t->total_ms) {
        t->own_total_ms = t->total_ms;
        curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, t->total_ms = 0L);
    }
    // As for a download (download.c), libcurl may not have requested this connection yet.
    ccurl_idle_taken(t);
    return CURL_WRITEFUNC_PAUSE;
}

void ccurl_transfer_forget_room(ccurl_transfer *t) {
    leave_list(t);
    t->room_since = t->room_waited = 0;
    t->own_total_ms = 0;
    t->decoded = 0;
}

void ccurl_transfer_set_room(ccurl_transfer *t, int64_t bytes) { t->room = bytes; }
int64_t ccurl_transfer_room_since(const ccurl_transfer *t) { return t->room_since; }

int64_t ccurl_transfer_wanted(const ccurl_transfer *t) {
    bool is_known = t->has_length && !t->chunked && !t->coded && !t->library_decodes;
    return is_known && t->length > t->room && t->length < t->answer_limit ? t->length : t->answer_limit;
}

int ccurl_transfer_give_room(ccurl_transfer *t, int64_t bytes) {
    if (bytes > t->room) t->room = bytes;
    if (!t->waits_for_room) return 0;
    leave_list(t);
    t->room_waited += ccurl_now() - t->room_since;
    t->room_since = 0;
    return t->pool ? (int)curl_easy_pause(t->easy, t->awaited ? CURLPAUSE_SEND : CURLPAUSE_CONT) : 0;
}

/// Memory is freed after each copied piece of 1 MiB.
enum { PIECE = 1024 * 1024 };

// It copies from the end, because a block that shrinks at its end returns its pages at once.
void ccurl_transfer_take_body(ccurl_transfer *t, uint8_t *out) {
    ccurl_forget_raw(t);
    size_t left = t->answer.length;
    while (left > PIECE) {
        left -= PIECE;
        memcpy(out + left, t->answer.bytes + left, PIECE);
        uint8_t *smaller = realloc(t->answer.bytes, left);
        if (!smaller) continue;
        t->answer.bytes = smaller;
        t->answer.capacity = left;
    }
    if (left) memcpy(out, t->answer.bytes, left);
    t->answer.length = 0;
}
