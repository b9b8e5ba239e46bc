// SPDX-License-Identifier: Apache-2.0
//
// gzip and deflate of bodies, with zlib, without HTTP. libcurl 7.88 does not distinguish a complete stream from a cut
// one. And it supports neither gzip streams of several members nor padding after the end.
#ifndef CCODING_H
#define CCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The decoders of nested encodings.
typedef struct ccoding ccoding;

typedef enum {
    CCODING_FINE,
    CCODING_BROKEN,
    /// A step produced more bytes than the limit.
    CCODING_TOO_LARGE,
    /// The memory for a decoder could not be allocated.
    CCODING_MEMORY,
    /// `keep` refused bytes.
    CCODING_REFUSED,
} ccoding_result;

/// The target of the decoded bytes. Both functions get `context`.
typedef struct {
    void *_Nullable context;
    bool (*_Nonnull keep)(void *_Nullable context, const uint8_t *_Nonnull bytes, size_t length);
    /// How many bytes of output have room now. Null: all of them.
    int64_t (*_Nullable room)(void *_Nullable context);
    /// The most bytes that each step may produce for the whole body.
    int64_t limit;
} ccoding_target;

/// Null without memory.
ccoding *_Nullable ccoding_create(void);
void ccoding_destroy(ccoding *_Nonnull c);
/// Adds the codings of one header line in the order in which they were applied. False if one of them is unknown, or if
/// there are too many.
bool ccoding_add(ccoding *_Nonnull c, const char *_Nonnull text, size_t length);
/// How many codings are nested.
int ccoding_count(const ccoding *_Nonnull c);
/// Decodes the next bytes of the body. `left` is how many of them found no room. With several codings the output cannot
/// stop in the middle, so it ignores the room.
ccoding_result ccoding_write(
    ccoding *_Nonnull c, const ccoding_target *_Nonnull target, const uint8_t *_Nonnull bytes, size_t length,
    size_t *_Nonnull left);
/// Whether a stream has begun and has not ended.
bool ccoding_is_inside(const ccoding *_Nonnull c);

/// Encodes bytes as gzip, at most 4 GiB. Returns a block for `free`, and its length. Null without memory.
uint8_t *_Nullable ccoding_gzip(const uint8_t *_Nullable bytes, size_t length, size_t *_Nonnull packed_length);

#endif
