// SPDX-License-Identifier: Apache-2.0
// libxml2 as far as the question goes whether bytes are a well-formed document. It builds no tree of elements.
#ifndef CXML_H
#define CXML_H

#include <stdbool.h>
#include <stddef.h>

// Where a document is not well formed.
typedef struct {
    // xmlParserErrors of libxml2 or one of those below; 0: the document is well formed.
    int code;
    // From 1; 0 if there is none.
    int line;
} cxml_defect;

enum {
    // Reading took ten times as long as it takes for a plain document of the size.
    CXML_TOO_SLOW = 100001,
    // The document declares more than 10,000 entities.
    CXML_TOO_MANY_ENTITIES = 100002,
};

// Reads a document to its end or its first error.
//
// No entity is ever expanded, neither from the document nor from a file or the network, and no DTD is loaded. charset, a
// name as in Content-Type, takes the place of what the document declares; NULL or an unknown one leaves it in force.
cxml_defect cxml_check(const void *_Nonnull bytes, size_t count, const char *_Nullable charset);

#endif
