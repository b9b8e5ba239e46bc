// SPDX-License-Identifier: Apache-2.0
//
// Decodes Content-Encoding instead of libcurl. libcurl 7.88 does not distinguish a complete stream from a cut one. And
// it supports neither gzip streams of several members nor padding after the end.
#include "transfer.h"

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

struct ccurl_coding {
    int count;
    /// The steps, the outermost first.
    step steps[STEPS];
};

static bool is_name(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncasecmp(text, name, length) == 0;
}

/// Whether a value is not a coding, but is sent by mistake for the charset, the media type or the framing of a body.
/// The bytes are then unencoded.
static bool is_no_coding(const char *text, size_t length) {
    static const char *const names[] = {"identity", "none", "chunked", "aws-chunked", "binary", "7bit", "8bit", "utf8", "us-ascii",
                                        "ascii", "latin1", "plain", "text", "json", "null", "default"};
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

/// Adds the codings of one header line. False if one of them is unknown.
static bool add_codings(ccurl_coding *c, const char *text, size_t length) {
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

/// Adds the codings of all headers of this name, in order. `name` is in lower case and ends with `: `, as in `head`.
static bool add_headers(ccurl_coding *c, const ccurl_buffer *head, const char *name) {
    const char *line = (const char *)head->bytes, *end = line + head->length;
    size_t name_length = strlen(name);
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - line);
        if (length > name_length && memcmp(line, name, name_length) == 0 &&
            !add_codings(c, line + name_length, length - name_length))
            return false;
        line = stop + 1;
    }
    return true;
}

bool ccurl_coding_begin(ccurl_transfer *t) {
    ccurl_coding *c = calloc(1, sizeof *c);
    if (!c) {
        t->memory_out = true;
        return false;
    }
    // Decoding reverses the order, and the transfer codings enclose the content codings.
    bool knows_content = !t->decodes || add_headers(c, &t->head, "content-encoding: ");
    if (!knows_content || !add_headers(c, &t->head, "transfer-encoding: ")) {
        free(c);
        t->coding_defect = knows_content ? CCURL_CODING_UNKNOWN_TRANSFER : CCURL_CODING_UNKNOWN;
        return false;
    }
    for (int i = 0, j = c->count - 1; i < j; i++, j--) {
        step s = c->steps[i];
        c->steps[i] = c->steps[j];
        c->steps[j] = s;
    }
    if (c->count == 0) {
        free(c);
        t->coded = false;
        return true;
    }
    t->coding = c;
    return true;
}

static bool fail(ccurl_transfer *t, int code) {
    if (code == Z_MEM_ERROR) t->memory_out = true;
    else t->coding_defect = CCURL_CODING_BROKEN;
    return false;
}

/// Prepares a step for its next byte. False if the byte belongs to no stream, or if zlib fails.
static bool open_step(ccurl_transfer *t, step *s, uint8_t first) {
    if (s->state == ENDED) {
        // The members of gzip follow each other (RFC 1952 §2.2).
        if (!s->is_gzip || first != 0x1f) return fail(t, Z_DATA_ERROR);
        inflateReset(&s->z);
    } else {
        // Deflate means zlib's format (RFC 9110 §8.4.1.2), but some servers send it raw. In zlib's format the lower
        // half of the first byte is 8. In raw deflate that would be a stored block with an unused bit set.
        // For gzip, zlib itself detects which of its two headers follows (+ 32).
        int bits = s->is_gzip ? 15 + 32 : (first & 15) == 8 ? 15 : -15;
        int code = inflateInit2(&s->z, bits);
        if (code != Z_OK) return fail(t, code);
    }
    s->state = INSIDE;
    return true;
}

/// Decodes bytes by the step `index` and all steps after it. Behind the last step they belong to the body.
static bool decode_from(ccurl_transfer *t, int index, const uint8_t *bytes, size_t length, size_t *left) {
    if (index == t->coding->count) return ccurl_keep_body(t, bytes, length);
    step *s = &t->coding->steps[index];
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
            if (s->state == PADDED) return fail(t, Z_DATA_ERROR);
        }
        if (s->state != INSIDE && !open_step(t, s, *bytes)) return false;
        s->z.next_in = (Bytef *)bytes;
        s->z.avail_in = (uInt)length;
        int code = Z_OK;
        do {
            s->z.next_out = out;
            s->z.avail_out = sizeof out;
            // Without further input, at most a few kilobytes of output follow. They may exceed the room.
            if (left && t->room < t->answer_limit && s->z.avail_in) {
                int64_t room = t->room - (int64_t)(t->answer.length + t->raw.length);
                if (room <= 0) {
                    *left = s->z.avail_in;
                    return true;
                }
                if (room < (int64_t)sizeof out) s->z.avail_out = (uInt)room;
            }
            uInt offered = s->z.avail_out;
            code = inflate(&s->z, Z_NO_FLUSH);
            size_t made = offered - s->z.avail_out;
            s->made += (int64_t)made;
            // The output between two steps is limited as well: it may be a thousand times the final output.
            if (s->made > t->answer_limit) {
                t->body_too_large = true;
                return false;
            }
            if (made && !decode_from(t, index + 1, out, made, NULL)) return false;
        } while (code == Z_OK && (s->z.avail_in || s->z.avail_out == 0));
        // Z_BUF_ERROR: the output was just full, and no further output was left.
        if (code == Z_STREAM_END) s->state = ENDED;
        else if (code != Z_OK && code != Z_BUF_ERROR) return fail(t, code);
        bytes += length - s->z.avail_in;
        length = s->z.avail_in;
    }
    return true;
}

bool ccurl_coding_write(ccurl_transfer *t, const uint8_t *bytes, size_t length, size_t *left) {
    return decode_from(t, 0, bytes, length, ccurl_coding_is_nested(t->coding) ? NULL : left);
}

bool ccurl_coding_is_nested(const ccurl_coding *c) { return c->count > 1; }

bool ccurl_coding_is_inside(const ccurl_coding *c) {
    for (int i = 0; i < c->count; i++)
        if (c->steps[i].state == INSIDE) return true;
    return false;
}

void ccurl_coding_end(ccurl_transfer *t) {
    ccurl_coding *c = t->coding;
    if (!c) return;
    t->coding = NULL;
    for (int i = 0; i < c->count; i++)
        if (c->steps[i].state != UNBEGUN) inflateEnd(&c->steps[i].z);
    free(c);
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
