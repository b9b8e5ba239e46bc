// SPDX-License-Identifier: Apache-2.0
//
// The transfers of a loop that wait for bytes of a file that they send.
#include "transfer.h"

cfiles_file *ccurl_transfer_awaited(const ccurl_transfer *t) { return t->awaited; }
ccurl_transfer *ccurl_loop_awaiting(const ccurl_loop *loop) { return loop->awaiting; }
ccurl_transfer *ccurl_transfer_next_awaiting(const ccurl_transfer *t) { return t->next_awaiting; }

void ccurl_transfer_await(ccurl_transfer *t, cfiles_file *f) {
    bool was_waiting = t->awaited;
    t->awaited = f;
    if (was_waiting == (f != NULL)) return;
    if (f) {
        t->previous_awaiting = NULL;
        t->next_awaiting = t->loop->awaiting;
        if (t->next_awaiting) t->next_awaiting->previous_awaiting = t;
        t->loop->awaiting = t;
        return;
    }
    if (t->next_awaiting) t->next_awaiting->previous_awaiting = t->previous_awaiting;
    if (t->previous_awaiting) t->previous_awaiting->next_awaiting = t->next_awaiting;
    else t->loop->awaiting = t->next_awaiting;
    t->next_awaiting = t->previous_awaiting = NULL;
}
