// SPDX-License-Identifier: Apache-2.0
//
// The transfers of a loop that wait for bytes of a file that they send, and those that wait for room.
#include "transfer.h"

void ccurl_waiting_join(ccurl_transfer *t, int list) {
    ccurl_neighbours *own = &t->neighbours[list];
    *own = (ccurl_neighbours){.next = t->loop->waiting[list]};
    if (own->next) own->next->neighbours[list].previous = t;
    t->loop->waiting[list] = t;
}

void ccurl_waiting_leave(ccurl_transfer *t, int list) {
    ccurl_neighbours *own = &t->neighbours[list];
    if (own->next) own->next->neighbours[list].previous = own->previous;
    if (own->previous) own->previous->neighbours[list].next = own->next;
    else t->loop->waiting[list] = own->next;
    *own = (ccurl_neighbours){0};
}

cfiles_file *ccurl_transfer_awaited(const ccurl_transfer *t) { return t->awaited; }
ccurl_transfer *ccurl_loop_awaiting(const ccurl_loop *loop) { return loop->waiting[FOR_FILE]; }
ccurl_transfer *ccurl_transfer_next_awaiting(const ccurl_transfer *t) { return t->neighbours[FOR_FILE].next; }
ccurl_transfer *ccurl_loop_wanting(const ccurl_loop *loop) { return loop->waiting[FOR_ROOM]; }
ccurl_transfer *ccurl_transfer_next_wanting(const ccurl_transfer *t) { return t->neighbours[FOR_ROOM].next; }

void ccurl_transfer_await(ccurl_transfer *t, cfiles_file *f) {
    if (f && !t->awaited) ccurl_waiting_join(t, FOR_FILE);
    if (!f && t->awaited) ccurl_waiting_leave(t, FOR_FILE);
    t->awaited = f;
}
