// SPDX-License-Identifier: Apache-2.0
// The SQL files of the folder migrations in the binary.
#ifndef CMIGRATIONS_H
#define CMIGRATIONS_H

#include <stddef.h>

struct cmigrations_file {
    // The path inside the folder, such as "functions/queue/claim.sql".
    const char *name;
    const unsigned char *bytes;
    size_t length;
};

// The files in the order of files.def, cmigrations_count elements.
const struct cmigrations_file *cmigrations_table(void);
extern const size_t cmigrations_count;

// Removes the pages of the files from memory. A later read loads them from the program's file again.
void cmigrations_release_pages(void);

#endif
