// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an answer.
#include "transfer.h"

bool ccurl_buffer_reserve(ccurl_buffer *b, size_t more) {
    if (b->capacity - b->length >= more) return true;
    size_t capacity = b->capacity ? b->capacity : 512;
    while (capacity - b->length < more) capacity *= 2;
    uint8_t *grown = realloc(b->bytes, capacity);
    if (!grown) return false;
    b->bytes = grown;
    b->capacity = capacity;
    return true;
}

bool ccurl_keep_body(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    if ((int64_t)t->answer.length + (int64_t)length > t->answer_limit) {
        t->facts.body_too_large = true;
        return false;
    }
    if (!ccurl_buffer_reserve(&t->answer, length)) {
        t->facts.memory_out = true;
        return false;
    }
    memcpy(t->answer.bytes + t->answer.length, bytes, length);
    t->answer.length += length;
    return true;
}

void ccurl_forget_raw(ccurl_transfer *t) {
    free(t->raw.bytes);
    t->raw = (ccurl_buffer){0};
    t->raw_is_lost = false;
}

bool ccurl_has_no_body(const ccurl_transfer *t) {
    return !t->answering || t->method == METHOD_HEAD || t->head_status == 204 || t->head_status == 304;
}
