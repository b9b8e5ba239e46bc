// SPDX-License-Identifier: Apache-2.0
// #embed (C23) takes the files in at the speed of a copy, and the build knows that it depends on them. As array literals
// in Swift the same 400 kB took the compiler 30 s and 1 GB at each change of one file.
#include "cmigrations.h"

static const struct cmigrations_file files[] = {
#include "files.def"
};
const size_t cmigrations_count = sizeof files / sizeof files[0];

const struct cmigrations_file *cmigrations_table(void) {
    return files;
}
