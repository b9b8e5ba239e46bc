// SPDX-License-Identifier: Apache-2.0
// The part of libyaml that reads a document as a stream of events.
#ifndef CYAML_H
#define CYAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum : int32_t {
    CYAML_ERROR,
    // The end of the stream.
    CYAML_END,
    // The start of a document; a stream may hold several.
    CYAML_DOCUMENT,
    CYAML_SCALAR,
    CYAML_ALIAS,
    CYAML_SEQUENCE,
    CYAML_MAPPING,
    // The end of the innermost sequence or mapping.
    CYAML_CLOSE,
} cyaml_kind;

// One event. Its texts are valid until the next call of cyaml_next or cyaml_close.
typedef struct {
    cyaml_kind kind;
    // Whether a scalar was written without quotes and without | or >.
    bool is_plain;
    // The line from 1.
    size_t line;
    // The text of a scalar, in UTF-8, which may hold NUL. The reason of an error.
    const char *_Nullable text;
    size_t length;
    // The anchor of a scalar, sequence or mapping, or the name of an alias. NULL: none.
    const char *_Nullable anchor;
    // NULL: none.
    const char *_Nullable tag;
} cyaml_event;

typedef struct cyaml_parser cyaml_parser;

// Begins to read. The bytes must stay valid until cyaml_close. NULL if memory lacks.
cyaml_parser *_Nullable cyaml_open(const void *_Nonnull bytes, size_t count);

// The next event. After an error or the end it must not be called again.
cyaml_event cyaml_next(cyaml_parser *_Nonnull parser);

void cyaml_close(cyaml_parser *_Nonnull parser);

#endif
