// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that receive the answer. Header lines go into one block, the body into one buffer. Both have a limit.
#include "transfer.h"

#include <ccoding.h>
#include <strings.h>

/// The most bytes of all header lines of one sending, including 1xx answers and trailers. libcurl itself limits a
/// single line to 100 KiB and the lines of one answer to 300 KiB.
enum { HEADERS_LIMIT = 256 * 1024 };
/// Numbers of so many digits always fit into 63 bits.
enum { LENGTH_DIGITS = 18 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Keeps bytes that need no decoding. `decoded` of them were kept before.
static size_t keep_plain(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    size_t done = t->decoded < length ? t->decoded : length;
    if (ccurl_lacks_room(t, length - done)) return ccurl_wait_for_room(t);
    t->decoded = 0;
    return ccurl_keep_body(t, bytes + done, length - done) ? length : 0;
}

/// Keeps received bytes in addition to the decoded ones, because the rest of the answer may be impossible to decode. If
/// both together exceed the limit of the answer, the received bytes are dropped.
static bool keep_raw(ccurl_transfer *t, const uint8_t *bytes, size_t length) {
    if (t->raw_is_lost) return true;
    if ((int64_t)(t->answer.length + t->raw.length + length) > t->answer_limit) {
        ccurl_forget_raw(t);
        t->raw_is_lost = true;
        return true;
    }
    if (!ccurl_buffer_reserve(&t->raw, length)) {
        t->facts.memory_out = true;
        return false;
    }
    memcpy(t->raw.bytes + t->raw.length, bytes, length);
    t->raw.length += length;
    return true;
}

size_t ccurl_on_body(char *bytes, size_t size, size_t count, void *context) {
    ccurl_transfer *t = context;
    size_t length = size * count;
    if (t->sink != TO_MEMORY) return ccurl_on_part_body(t, bytes, length);
    if (t->coded && !t->coding && !ccurl_coding_begin(t)) {
        if (t->facts.memory_out) return 0;
        t->coded = false;
    }
    const uint8_t *body = (const uint8_t *)bytes;
    if (!t->coding) return keep_plain(t, body, length);
    // The output of nested encodings cannot stop in the middle, so it needs room for the largest answer.
    if (t->room < t->answer_limit && ccoding_count(t->coding) > 1) return ccurl_wait_for_room(t);
    // After a pause libcurl delivers the same bytes again, followed by new ones.
    size_t done = t->decoded < length ? t->decoded : length, left = 0;
    t->decoded = 0;
    if (!ccurl_coding_write(t, body + done, length - done, &left)) {
        // All bytes received so far become the body; the rest of the answer is appended.
        if (t->facts.coding_defect != CCURL_CODING_BROKEN || !ccurl_use_raw(t)) return 0;
        t->decoded = done;
        return keep_plain(t, body, length);
    }
    if (!keep_raw(t, body + done, length - done - left)) return 0;
    if (!left) return length;
    t->decoded = length - left;
    return ccurl_wait_for_room(t);
}

// The characters of a token (RFC 9110 §5.6.2).
static bool is_token(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c > ' ' && c < 0x7f && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Takes a Content-Length: a number, or a list that repeats it (RFC 9112 §6.3). False for anything else, or for a
/// second value that differs.
static bool take_length(ccurl_transfer *t, const char *text, size_t length) {
    const char *end = text + length;
    for (;;) {
        while (text < end && is_blank(*text)) text++;
        const char *start = text;
        int64_t value = 0;
        while (text < end && is_digit(*text) && text - start < LENGTH_DIGITS) value = value * 10 + (*text++ - '0');
        if (text == start || (t->has_length && value != t->length)) return false;
        t->has_length = true;
        t->length = value;
        while (text < end && is_blank(*text)) text++;
        if (text == end) return true;
        if (*text++ != ',') return false;
    }
}

/// Appends a field value. Characters that would break the form of one line per header become spaces (RFC 9110 §5.5).
static void append_value(ccurl_buffer *b, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        b->bytes[b->length++] = (uint8_t)(c == '\r' || c == '\n' || c == 0 ? ' ' : c);
    }
}

/// Begins the headers of an answer at its status line.
static void begin_block(ccurl_transfer *t, const char *line, size_t length) {
    t->head.length = 0;
    ccurl_coding_end(t);
    ccurl_forget_raw(t);
    t->has_location = t->facts.has_wait = t->has_length = t->folding = t->coded = t->chunked = false;
    t->head_state = HEAD_LINES;
    t->answer_seen = false;
    // "HTTP/1.1 200" or "HTTP/2 200"
    t->head_status = 0;
    const char *space = memchr(line, ' ', length);
    if (space && line + length - space > 3)
        for (int i = 1; i <= 3 && is_digit(space[i]); i++) t->head_status = t->head_status * 10 + space[i] - '0';
    // libcurl regards an unrequested 101 as final.
    t->answering = t->head_status < 100 || t->head_status > 199 || t->head_status == 101;
}

static bool names_chunks(const char *value, size_t length) {
    for (size_t i = 0; i + 7 <= length; i++)
        if (strncasecmp(value + i, "chunked", 7) == 0) return true;
    return false;
}

/// Whether the header may ask for a wait: Retry-After, retry-after-ms, x-ms-retry-after-ms, RateLimit… or X-Rate….
static bool asks_for_wait(const char *name, size_t length) {
    return (length >= 9 && memcmp(name, "ratelimit", 9) == 0) || (length >= 11 && memcmp(name, "x-rate", 6) == 0) ||
           (length >= 11 && memcmp(name, "retry-after", 11) == 0) ||
           (length == 19 && memcmp(name, "x-ms-retry-after-ms", 19) == 0);
}

/// Records the facts of a header line in the block. `value` is the place in the block where its value begins.
static void record_header(ccurl_transfer *t, size_t name_length, size_t value, size_t value_length) {
    const char *name = (const char *)t->head.bytes + value - 2 - name_length;
    t->folds_length = false;
    if (name_length == 8 && !t->has_location && memcmp(name, "location", 8) == 0) {
        t->has_location = true;
        t->location = value;
        t->location_length = value_length;
    } else if (asks_for_wait(name, name_length)) {
        t->facts.has_wait = true;
    } else if (name_length == 14 && memcmp(name, "content-length", 14) == 0) {
        t->folds_length = true;
        // The end of such an answer is undefined. libcurl uses the digits at the beginning. Beyond 63 bits it reads
        // until the end of the connection.
        bool is_number = take_length(t, (const char *)t->head.bytes + value, value_length);
        if (!is_number && !ccurl_has_no_body(t)) t->facts.length_unclear = true;
    } else if ((name_length == 16 && memcmp(name, "content-encoding", 16) == 0) ||
               (name_length == 17 && memcmp(name, "transfer-encoding", 17) == 0)) {
        // A download keeps the bytes as they are sent.
        if (name[0] == 't' || t->decodes) t->coded = !t->part && !t->library_decodes;
        if (name[0] == 't' && names_chunks((const char *)t->head.bytes + value, value_length)) t->chunked = true;
    }
}

size_t ccurl_on_header(char *line, size_t size, size_t count, void *context) {
    ccurl_transfer *t = context;
    size_t length = size * count, whole = length;
    t->head_total += length;
    if (t->head_total > HEADERS_LIMIT) {
        t->facts.headers_too_large = true;
        return 0;
    }
    while (length && is_blank(line[length - 1])) length--;
    if (t->head_state != HEAD_LINES) {
        // A final answer may be followed by another one only after 1xx or 417. Otherwise these lines are trailers.
        if (length > 5 && strncasecmp(line, "HTTP/", 5) == 0 && t->answer.length == 0 && t->sink != TO_PART)
            begin_block(t, line, length);
        return whole;
    }
    // A line with blanks only adds nothing to the value before it.
    if (length == 0 && (line[0] == '\r' || line[0] == '\n')) {
        t->head_state = HEAD_DONE;
        ccurl_closing_begin(t);
        return whole;
    }
    if (!ccurl_buffer_reserve(&t->head, length + 4)) {
        t->facts.memory_out = true;
        return 0;
    }
    ccurl_buffer *b = &t->head;
    if (is_blank(line[0])) {
        // A folded line continues the value before it, separated by one space (RFC 9112 §5.2).
        size_t skip = 0;
        while (skip < length && is_blank(line[skip])) skip++;
        if (!t->folding || b->length == 0 || skip == length) return whole;
        // libcurl has used the part before the fold as the whole value.
        if (t->folds_length && skip < length && !ccurl_has_no_body(t)) t->facts.length_unclear = true;
        b->bytes[b->length - 1] = ' ';
        append_value(b, line + skip, length - skip);
        b->bytes[b->length++] = '\n';
        return t->facts.length_unclear ? 0 : whole;
    }
    size_t name = 0;
    while (name < length && is_token((unsigned char)line[name])) name++;
    t->folding = name > 0 && name < length && line[name] == ':';
    // A line without a valid name is left out, and so are the folded lines after it.
    if (!t->folding) return whole;
    for (size_t i = 0; i < name; i++) {
        char c = line[i];
        b->bytes[b->length++] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    b->bytes[b->length++] = ':';
    b->bytes[b->length++] = ' ';
    size_t value = name + 1;
    while (value < length && is_blank(line[value])) value++;
    size_t start = b->length;
    append_value(b, line + value, length - value);
    record_header(t, name, start, b->length - start);
    b->bytes[b->length++] = '\n';
    return t->facts.length_unclear ? 0 : whole;
}
