// SPDX-License-Identifier: Apache-2.0
//
// Gives bytes to functions of C targets that have no public header.
#ifndef CFUZZFEEDS_H
#define CFUZZFEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The outcome of an answer.
typedef struct {
    int status;
    bool has_wait, length_unclear, body_too_large, coding_is_defective;
    const uint8_t *_Nullable headers;
    size_t headers_length;
    const uint8_t *_Nullable body;
    size_t body_length;
    /// Null without the header.
    const char *_Nullable location;
    size_t location_length;
} cfuzz_answer;

/// The largest body of an answer.
enum { CFUZZ_ANSWER_LIMIT = 256 * 1024 };

/// Delivers an answer to libcurl's callbacks: header lines up to the first empty one, then the body in pieces of `piece`
/// bytes. With `room` the answer may keep so many bytes at first; 0: all. The pointers are valid until the next call.
/// False without memory.
bool cfuzz_answer_read(
    const uint8_t *_Nonnull bytes, size_t length, size_t piece, int64_t room, bool decodes, cfuzz_answer *_Nonnull out);

/// Reads the bytes as the note of a part. The texts are valid until the next call. `text` is null if the note is torn.
/// False if the note cannot be written.
bool cfuzz_note_read(
    const uint8_t *_Nonnull bytes, size_t length, int64_t *_Nonnull durable, const char *_Nullable *_Nonnull holder,
    const char *_Nullable *_Nonnull text);

#endif
