// SPDX-License-Identifier: Apache-2.0
//
// The decoders. Each step passes its output to the next one, and the last step to the target.
#include "ccoding.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/// At most so many nested encodings are decoded, as in libcurl.
enum { STEPS = 5 };

typedef enum { UNBEGUN, INSIDE, ENDED, PADDED } step_state;

/// One encoding of several nested ones.
typedef struct {
    bool is_gzip;
    step_state state;
    /// The bytes that it has produced.
    int64_t made;
    z_stream z;
} step;

struct ccoding {
    int count;
    /// The steps in the order in which they were applied. Decoding begins with the last one.
    step steps[STEPS];
};

ccoding *ccoding_create(void) { return calloc(1, sizeof(ccoding)); }

void ccoding_destroy(ccoding *c) {
    for (int i = 0; i < c->count; i++)
        if (c->steps[i].state != UNBEGUN) inflateEnd(&c->steps[i].z);
    free(c);
}

int ccoding_count(const ccoding *c) { return c->count; }

static bool is_name(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncasecmp(text, name, length) == 0;
}

/// Whether a value is not a coding, but is sent by mistake for the charset, the media type or the framing of a body.
/// The bytes are then unencoded.
static bool is_no_coding(const char *text, size_t length) {
    static const char *const names[] = {"identity", "none", "chunked", "aws-chunked", "binary", "7bit", "8bit", "utf8",
                                        "us-ascii", "ascii", "latin1", "plain", "text", "json", "null", "default"};
    static const char *const beginnings[] = {"utf-", "iso-", "windows-", "charset"};
    // The value is not a token (RFC 9110 §8.4.1), for example text/html or charset=utf-8.
    if (length == 0 || memchr(text, '/', length) || memchr(text, '=', length) || memchr(text, '"', length)) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_name(text, length, names[i])) return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t size = strlen(beginnings[i]);
        if (length >= size && strncasecmp(text, beginnings[i], size) == 0) return true;
    }
    return false;
}

bool ccoding_add(ccoding *c, const char *text, size_t length) {
    const char *end = text + length;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *next = comma ? comma : end;
        size_t size = (size_t)(next - text);
        while (size && (*text == ' ' || *text == '\t')) text++, size--;
        while (size && (text[size - 1] == ' ' || text[size - 1] == '\t')) size--;
        bool is_gzip = is_name(text, size, "gzip") || is_name(text, size, "x-gzip");
        if (!is_no_coding(text, size)) {
            if (!is_gzip && !is_name(text, size, "deflate")) return false;
            if (c->count == STEPS) return false;
            c->steps[c->count++] = (step){.is_gzip = is_gzip};
        }
        text = next + 1;
    }
    return true;
}

static ccoding_result failure(int code) { return code == Z_MEM_ERROR ? CCODING_MEMORY : CCODING_BROKEN; }

/// Prepares a step for its next byte. It fails if the byte belongs to no stream, or if zlib fails.
static ccoding_result open_step(step *s, uint8_t first) {
    if (s->state == ENDED) {
        // The members of gzip follow each other (RFC 1952 §2.2).
        if (!s->is_gzip || first != 0x1f) return CCODING_BROKEN;
        inflateReset(&s->z);
    } else {
        // Deflate means zlib's format (RFC 9110 §8.4.1.2), but some servers send it raw. In zlib's format the lower
        // half of the first byte is 8. In raw deflate that would be a stored block with an unused bit set.
        // For gzip, zlib itself detects which of its two headers follows (+ 32).
        int bits = s->is_gzip ? 15 + 32 : (first & 15) == 8 ? 15 : -15;
        int code = inflateInit2(&s->z, bits);
        if (code != Z_OK) return failure(code);
    }
    s->state = INSIDE;
    return CCODING_FINE;
}

typedef struct {
    ccoding *coding;
    const ccoding_target *target;
    /// Where a step records how many bytes found no room.
    size_t *left;
} run;

/// Decodes bytes by the first `count` steps. Behind the first step they belong to the body.
static ccoding_result decode(run *r, int count, const uint8_t *bytes, size_t length) {
    if (count == 0) return r->target->keep(r->target->context, bytes, length) ? CCODING_FINE : CCODING_REFUSED;
    step *s = &r->coding->steps[count - 1];
    uint8_t out[16 * 1024];
    while (length) {
        if (s->state == ENDED || s->state == PADDED) {
            // Zeros that fill a block of a tape or disk. gzip(1) ignores them as well.
            if (*bytes == 0) {
                s->state = PADDED;
                bytes++;
                length--;
                continue;
            }
            if (s->state == PADDED) return CCODING_BROKEN;
        }
        if (s->state != INSIDE) {
            ccoding_result opened = open_step(s, *bytes);
            if (opened != CCODING_FINE) return opened;
        }
        s->z.next_in = (Bytef *)bytes;
        s->z.avail_in = (uInt)length;
        int code = Z_OK;
        do {
            s->z.next_out = out;
            s->z.avail_out = sizeof out;
            // Without further input, at most a few kilobytes of output follow. They may exceed the room.
            if (r->coding->count == 1 && r->target->room && s->z.avail_in) {
                int64_t room = r->target->room(r->target->context);
                if (room <= 0) {
                    *r->left = s->z.avail_in;
                    return CCODING_FINE;
                }
                if (room < (int64_t)sizeof out) s->z.avail_out = (uInt)room;
            }
            uInt offered = s->z.avail_out;
            code = inflate(&s->z, Z_NO_FLUSH);
            size_t made = offered - s->z.avail_out;
            s->made += (int64_t)made;
            // The output between two steps is limited as well: it may be a thousand times the final output.
            if (s->made > r->target->limit) return CCODING_TOO_LARGE;
            ccoding_result kept = made ? decode(r, count - 1, out, made) : CCODING_FINE;
            if (kept != CCODING_FINE) return kept;
        } while (code == Z_OK && (s->z.avail_in || s->z.avail_out == 0));
        // Z_BUF_ERROR: the output was just full, and no further output was left.
        if (code == Z_STREAM_END) s->state = ENDED;
        else if (code != Z_OK && code != Z_BUF_ERROR) return failure(code);
        bytes += length - s->z.avail_in;
        length = s->z.avail_in;
    }
    return CCODING_FINE;
}

ccoding_result ccoding_write(
    ccoding *c, const ccoding_target *target, const uint8_t *bytes, size_t length, size_t *left) {
    *left = 0;
    run r = {c, target, left};
    return decode(&r, c->count, bytes, length);
}

bool ccoding_is_inside(const ccoding *c) {
    for (int i = 0; i < c->count; i++)
        if (c->steps[i].state == INSIDE) return true;
    return false;
}

uint8_t *ccoding_gzip(const uint8_t *bytes, size_t length, size_t *packed_length) {
    z_stream z = {0};
    // 15 bits of window, plus 16 for the gzip format (RFC 1952). It contains no time or name, so that the same body has
    // the same bytes in each attempt. It takes 256 KiB during this call.
    if (length > UINT32_MAX) return NULL;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    size_t bound = deflateBound(&z, length);
    uint8_t *packed = malloc(bound);
    bool ended = false;
    if (packed && bound <= UINT32_MAX) {
        z.next_in = (Bytef *)bytes;
        z.avail_in = (uInt)length;
        z.next_out = packed;
        z.avail_out = (uInt)bound;
        ended = deflate(&z, Z_FINISH) == Z_STREAM_END;
    }
    size_t made = z.total_out;
    deflateEnd(&z);
    if (!ended) {
        free(packed);
        return NULL;
    }
    uint8_t *smaller = realloc(packed, made);
    *packed_length = made;
    return smaller ? smaller : packed;
}
