// SPDX-License-Identifier: Apache-2.0
// The body of a POST while it arrives: at most CHTTPSERVER_MOST_BYTES, within 10 s.
#ifndef UPLOAD_H
#define UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct upload {
    char *bytes;
    size_t count;
    // Including dropped bytes. More than CHTTPSERVER_MOST_BYTES: the body is too large.
    size_t received;
    time_t deadline;
};

// NULL without memory.
struct upload *upload_begin(void);

// Takes a part of the body. False: the connection must end.
bool upload_receive(struct upload *upload, const char *bytes, size_t count);

void upload_end(struct upload *upload);

#endif
