// SPDX-License-Identifier: Apache-2.0
//
// Decodes the answer's encodings instead of libcurl (CCoding).
#include "transfer.h"

#include <ccoding.h>

/// Adds the codings of all headers of this name, in order. `name` is in lower case and ends with `: `, as in `head`.
static bool add_headers(ccoding *c, const ccurl_buffer *head, const char *name) {
    const char *line = (const char *)head->bytes, *end = line + head->length;
    size_t name_length = strlen(name);
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - line);
        if (length > name_length && memcmp(line, name, name_length) == 0 &&
            !ccoding_add(c, line + name_length, length - name_length))
            return false;
        line = stop + 1;
    }
    return true;
}

bool ccurl_coding_begin(ccurl_transfer *t) {
    ccoding *c = ccoding_create();
    if (!c) {
        t->facts.memory_out = true;
        return false;
    }
    // The transfer codings enclose the content codings.
    bool knows_content = !t->decodes || add_headers(c, &t->head, "content-encoding: ");
    if (!knows_content || !add_headers(c, &t->head, "transfer-encoding: ")) {
        ccoding_destroy(c);
        t->facts.coding_defect = knows_content ? CCURL_CODING_UNKNOWN_TRANSFER : CCURL_CODING_UNKNOWN;
        return false;
    }
    if (ccoding_count(c) > 0) {
        t->coding = c;
        return true;
    }
    ccoding_destroy(c);
    t->coded = false;
    return true;
}

static bool keep(void *context, const uint8_t *bytes, size_t length) { return ccurl_keep_body(context, bytes, length); }

static int64_t room(void *context) {
    const ccurl_transfer *t = context;
    return t->room - (int64_t)(t->answer.length + t->raw.length);
}

bool ccurl_coding_write(ccurl_transfer *t, const uint8_t *bytes, size_t length, size_t *left) {
    ccoding_target target = {t, keep, t->room < t->answer_limit ? room : NULL, t->answer_limit};
    ccoding_result result = ccoding_write(t->coding, &target, bytes, length, left);
    if (result == CCODING_TOO_LARGE) t->facts.body_too_large = true;
    if (result == CCODING_MEMORY) t->facts.memory_out = true;
    if (result == CCODING_BROKEN) t->facts.coding_defect = CCURL_CODING_BROKEN;
    return result == CCODING_FINE;
}

void ccurl_coding_end(ccurl_transfer *t) {
    if (t->coding) ccoding_destroy(t->coding);
    t->coding = NULL;
}

bool ccurl_use_raw(ccurl_transfer *t) {
    if (t->raw_is_lost) return false;
    ccurl_buffer decoded = t->answer;
    t->answer = t->raw;
    t->raw = decoded;
    ccurl_forget_raw(t);
    ccurl_coding_end(t);
    t->coded = false;
    return true;
}
