// SPDX-License-Identifier: Apache-2.0
//
// Open connections of HTTP/1 that no transfer uses. Bytes that arrive on one were not requested, and the next request
// would take them as its answer: libcurl 7.88 regards a connection with readable bytes as alive. So these connections
// stay in the poller, and the first byte, or the end, closes them.
//
// HTTP/2 numbers its answers, so PING and SETTINGS on an idle connection are allowed.
#include "transfer.h"

#include <cresolver.h>
#include <errno.h>
#include <openssl/ssl.h>

void ccurl_idle_retire(ccurl_loop *loop, int fd) {
    ccurl_table_set_used(loop, fd);
    // The end of a connection stays readable, and would wake the owner repeatedly.
    ccurl_descriptor *d = ccurl_table_touch(loop, fd);
    if (!d) return;
    d->wanted = 0;
    // The number may now belong to another file, which must not be shut down.
    if (!ccurl_socket_is_open(loop, fd)) return;
    if (!d->retired) loop->pools[d->home]->retired++;
    d->retired = true;
    // libcurl is not informed. It finds the connection dead when it checks it or writes to it, and uses another one.
    shutdown(fd, SHUT_RDWR);
    // libcurl's check of a TLS connection regards any readable byte as a sign of life, even after a hang-up. So all
    // bytes are removed: TCP drops them without a copy (tcp(7), MSG_TRUNC). There are at most 16 MiB, and later bytes
    // are answered with RST.
    for (int i = 0; i < 16; i++)
        if (recv(fd, NULL, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) <= 0) break;
}

/// Whether bytes, an end or an error can be read.
static bool has_input(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

void ccurl_idle_ready(ccurl_loop *loop, int fd) {
    // The event may have been the end of the last answer, which was read in the same turn.
    if (has_input(fd)) ccurl_idle_retire(loop, fd);
}

void ccurl_idle_taken(ccurl_transfer *t) {
    if (t->taken < 0 || !t->loop->descriptors[t->taken].idle) return;
    ccurl_table_set_used(t->loop, t->taken);
    // The owner does not watch the socket until libcurl requests it, when the transfer continues.
    ccurl_descriptor *d = ccurl_table_touch(t->loop, t->taken);
    if (d) d->wanted = 0;
}

bool ccurl_idle_check(ccurl_transfer *t, int port) {
    t->taken = -1;
    SSL *tls = ccurl_tls_of(t->easy);
    if (tls) {
        const unsigned char *name = NULL;
        unsigned length = 0;
        SSL_get0_alpn_selected(tls, &name, &length);
        // The first line of an answer proves nothing: libcurl accepts "HTTP/2 200" on any connection.
        if (length == 2 && memcmp(name, "h2", 2) == 0) return true;
    }
    // libcurl reports only the local port here, not the descriptor. Two connections to different servers may have the
    // same port. One with unexpected bytes must end in any case.
    for (int fd = 0; port && fd < t->loop->descriptor_capacity; fd++) {
        if (t->loop->idle_ports[fd] != port) continue;
        // A TLS record may contain more than the answer that it ended. The kernel no longer has those bytes.
        if ((tls && SSL_has_pending(tls)) || has_input(fd)) ccurl_idle_retire(t->loop, fd);
        // The connection that is taken is no longer watched. The others stay watched.
        else if (t->part && cresolver_socket_has_peer(fd, t->remote_ip, t->peer_port)) t->taken = fd;
    }
    return false;
}
