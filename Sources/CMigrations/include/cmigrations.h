// SPDX-License-Identifier: Apache-2.0
// The SQL files of the folder migrations, as the binary carries them.
#ifndef CMIGRATIONS_H
#define CMIGRATIONS_H

#include <stddef.h>

struct cmigrations_file {
    // Inside the folder: "functions/claim.sql".
    const char *name;
    const unsigned char *bytes;
    size_t length;
};

// In the order of files.def, cmigrations_count elements.
const struct cmigrations_file *cmigrations_table(void);
extern const size_t cmigrations_count;

// Takes the pages of the files out of memory; who reads them again gets them from the program's file.
void cmigrations_rest(void);

#endif
