// SPDX-License-Identifier: Apache-2.0
#include "cfuzzfeeds.h"

#include <stdlib.h>
#include <string.h>

#include "transfer.h"

/// Calls a callback with a copy of exactly these bytes, so that a sanitizer sees each read behind them.
static size_t deliver(
    size_t (*callback)(char *, size_t, size_t, void *), const uint8_t *bytes, size_t length, ccurl_transfer *t) {
    char *copy = malloc(length ? length : 1);
    if (!copy) return 0;
    memcpy(copy, bytes, length);
    size_t taken = callback(copy, 1, length, t);
    free(copy);
    return taken;
}

/// Delivers the header lines. Returns where the body begins; `length` if the transfer has ended.
static size_t deliver_head(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        const uint8_t *end = memchr(bytes + at, '\n', length - at);
        size_t line = end ? (size_t)(end - bytes) + 1 - at : length - at;
        // libcurl delivers a line with its line end.
        if (!end) return length;
        if (deliver(ccurl_on_header, bytes + at, line, t) != line) return length;
        at += line;
        if (t->head_state == HEAD_DONE && t->answering) break;
    }
    return at;
}

/// Delivers the body. After a pause libcurl delivers the piece again.
static void deliver_body(ccurl_transfer *t, const uint8_t *bytes, size_t length, size_t piece) {
    size_t at = 0;
    while (at < length) {
        size_t size = length - at < piece ? length - at : piece;
        size_t taken = deliver(ccurl_on_body, bytes + at, size, t);
        if (taken == CURL_WRITEFUNC_PAUSE) {
            ccurl_transfer_give_room(t, t->room >= INT64_MAX / 4 ? INT64_MAX : t->room * 2);
            continue;
        }
        if (taken != size) return;
        at += size;
    }
}

bool cfuzz_answer_read(
    const uint8_t *bytes, size_t length, size_t piece, int64_t room, bool decodes, cfuzz_answer *out) {
    static ccurl_loop *loop;
    static ccurl_transfer *t;
    if (!loop) {
        ccurl_settings settings = {
            .max_connections = 1, .most_held = 1, .user_agent = "fuzz", .accept_encoding = "gzip, deflate"};
        if (ccurl_global_start() != 0) return false;
        loop = ccurl_loop_create(&settings);
    }
    if (!loop) return false;
    // The pointers of the last outcome lived until now.
    if (t) ccurl_transfer_destroy(t);
    t = ccurl_transfer_create(loop, NULL);
    if (!t) return false;
    t->answer_limit = CFUZZ_ANSWER_LIMIT;
    t->decodes = decodes;
    if (room > 0) ccurl_transfer_set_room(t, room);
    t->sendings = 1;
    // It has no connection, which a pause would look for.
    t->taken = -1;
    size_t body = deliver_head(t, bytes, length);
    if (t->head_state == HEAD_DONE) deliver_body(t, bytes + body, length - body, piece ? piece : 1);
    ccurl_result r = ccurl_transfer_result(t);
    *out = (cfuzz_answer){
        .status = (int)r.status,
        .has_wait = r.has_wait,
        .length_unclear = r.length_unclear,
        .body_too_large = r.body_too_large,
        .coding_is_defective = r.coding_defect != CCURL_CODING_FINE,
        .headers = r.headers,
        .headers_length = r.headers_length,
        .body = r.body,
        .body_length = r.body_length,
        .location = r.location,
        .location_length = r.location ? r.location_length : 0,
    };
    return true;
}
