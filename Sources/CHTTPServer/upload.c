// SPDX-License-Identifier: Apache-2.0
#include "upload.h"

#include <stdlib.h>
#include <string.h>

#include "chttpserver.h"

// A client that sends a byte from time to time would keep its thread, so the whole body has 10 s. The rest of a body
// that is too large is read and dropped, because the answer can only be sent after it. From DROPPED_BYTES on the
// connection ends without an answer.
enum { TIMEOUT_S = 10, DROPPED_BYTES = 1 << 20 };

static time_t now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

struct upload *upload_begin(void) {
    struct upload *upload = calloc(1, sizeof *upload);
    if (upload) upload->deadline = now_s() + TIMEOUT_S;
    return upload;
}

bool upload_receive(struct upload *upload, const char *bytes, size_t count) {
    upload->received += count;
    if (upload->received > DROPPED_BYTES || now_s() > upload->deadline) return false;
    if (upload->received > CHTTPSERVER_MOST_BYTES) return true;
    char *grown = realloc(upload->bytes, upload->count + count);
    if (!grown) return false;
    memcpy(grown + upload->count, bytes, count);
    upload->bytes = grown;
    upload->count += count;
    return true;
}

void upload_end(struct upload *upload) {
    free(upload->bytes);
    free(upload);
}
