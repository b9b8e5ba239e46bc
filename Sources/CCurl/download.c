// SPDX-License-Identifier: Apache-2.0
#include "internal.h"

size_t ccurl_on_part_body(ccurl_transfer *t, const char *bytes, size_t length) {
    if (t->sink == UNDECIDED) {
        t->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if ((int64_t)length > t->file_limit - t->filed) {
        t->body_too_large = true;
        return 0;
    }
    if (!ccurl_part_append(t->part, bytes, length)) {
        // libcurl keeps these bytes; a part that has failed is found by the owner, who ends the call.
        t->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    t->filed += (int64_t)length;
    return length;
}

void ccurl_transfer_set_part(ccurl_transfer *t, ccurl_part *part) { t->part = part; }
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
    return t->pool ? (int)curl_easy_pause(t->easy, CURLPAUSE_CONT) : 0;
}
