// SPDX-License-Identifier: Apache-2.0
// #embed (C23) reads the files as fast as a copy, and the build tracks them as dependencies. As array literals in
// Swift, 400 kB of SQL took the compiler 30 s and 1 GB after each change of a file.
#include "cmigrations.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct cmigrations_file files[] = {
#include "files.def"
};
const size_t cmigrations_count = sizeof files / sizeof files[0];

const struct cmigrations_file *cmigrations_table(void) {
    return files;
}

void cmigrations_release_pages(void) {
    uintptr_t first = UINTPTR_MAX, end = 0;
    for (size_t i = 0; i < cmigrations_count; i++) {
        uintptr_t start = (uintptr_t)files[i].bytes;
        if (start < first) first = start;
        if (start + files[i].length > end) end = start + files[i].length;
    }
    // Only whole pages, so that no other data of the program is affected.
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    first = (first + page - 1) / page * page;
    end = end / page * page;
    // If madvise refuses, the memory only stays in use.
    if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
}
