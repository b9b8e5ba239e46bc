// SPDX-License-Identifier: Apache-2.0
// The part of libxml2 that checks whether bytes are a well-formed document. It builds no tree.
#ifndef CXML_H
#define CXML_H

#include <stdbool.h>
#include <stddef.h>

// The first place where a document is not well formed.
typedef struct {
    // A number of libxml2's xmlParserErrors or one of the constants below; 0: well formed.
    int code;
    // The line from 1; 0 if unknown.
    int line;
} cxml_defect;

enum {
    // Reading took far longer than a plain document of the size.
    CXML_TOO_SLOW = 100001,
    // The document declares more than 10,000 entities.
    CXML_TOO_MANY_ENTITIES = 100002,
};

// Reads a document to its end or its first error.
//
// Entities are never expanded, and no file, network resource or DTD is loaded. `charset`, a name as in Content-Type,
// replaces the declaration of the document. NULL or an unknown one leaves the declaration in force.
cxml_defect cxml_check(const void *_Nonnull bytes, size_t count, const char *_Nullable charset);

#endif
