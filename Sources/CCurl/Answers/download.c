// SPDX-License-Identifier: Apache-2.0
//
// The body of a download. It pauses until the owner has seen the headers, and whenever the part has no room.
#include "transfer.h"

/// libcurl does not request the socket of a paused transfer. If the body begins in the turn of the request itself,
/// libcurl has never requested this socket, which would count as idle. The rest of the body would then end it (20 of
/// 100 downloads, 1 MB from loopback).
static size_t wait_for_owner(ccurl_transfer *t) {
    t->paused = true;
    ccurl_idle_taken(t);
    return CURL_WRITEFUNC_PAUSE;
}

size_t ccurl_on_part_body(ccurl_transfer *t, const char *bytes, size_t length) {
    if (t->sink == UNDECIDED) return wait_for_owner(t);
    if ((int64_t)length > t->file_limit - t->filed) {
        t->facts.body_too_large = true;
        return 0;
    }
    if (!cfiles_part_append(t->part, bytes, length)) {
        // libcurl keeps these bytes. If the part has failed, the owner detects it and ends the call.
        return wait_for_owner(t);
    }
    t->filed += (int64_t)length;
    return length;
}

void ccurl_transfer_set_part(ccurl_transfer *t, cfiles_part *part) { t->part = part; }
bool ccurl_transfer_is_paused(const ccurl_transfer *t) { return t->paused; }
int64_t ccurl_transfer_filed(const ccurl_transfer *t) { return t->filed; }
void ccurl_transfer_keep_body(ccurl_transfer *t) { t->sink = TO_MEMORY; }

void ccurl_transfer_file_body(ccurl_transfer *t, int64_t offset, int64_t limit) {
    t->sink = TO_PART;
    t->filed = offset;
    t->file_limit = limit;
}

int ccurl_transfer_resume(ccurl_transfer *t) {
    t->paused = false;
    return t->pool ? (int)curl_easy_pause(t->easy, t->awaited ? CURLPAUSE_SEND : CURLPAUSE_CONT) : 0;
}
