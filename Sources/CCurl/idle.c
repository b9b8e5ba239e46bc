// SPDX-License-Identifier: Apache-2.0
//
// Open connections of HTTP/1 that no transfer uses. Whatever arrives on one was asked for by nobody, and the next request
// would take it for its answer: libcurl 7.88 counts a connection with bytes to read as alive. So they stay watched, and
// with the first byte, or the end, they are over. HTTP/2 numbers its answers; its idle PING and SETTINGS are in order.
#include "internal.h"

#include <errno.h>
#include <openssl/ssl.h>

void ccurl_idle_begin(ccurl_loop *loop, int fd) {
    ccurl_descriptor *d = &loop->descriptors[fd];
    // One call of the system for each connection, not for each request.
    if (!d->port) d->port = ccurl_socket_port(fd);
    d->idle = true;
    loop->idle_ports[fd] = d->port;
}

void ccurl_idle_end(ccurl_loop *loop, int fd) {
    loop->descriptors[fd].idle = false;
    loop->idle_ports[fd] = 0;
}

void ccurl_idle_retire(ccurl_loop *loop, int fd) {
    ccurl_idle_end(loop, fd);
    // An end stays readable, and would wake the owner again and again.
    ccurl_descriptor *d = ccurl_loop_touch(loop, fd);
    if (!d) return;
    d->wanted = 0;
    // The number may be another file's, which is not ours to shut down.
    if (!ccurl_socket_is_open(loop, fd)) return;
    if (!d->retired) loop->pools[d->home]->retired++;
    d->retired = true;
    // libcurl is not told: it finds it dead when it looks, or when it writes, and takes another connection.
    shutdown(fd, SHUT_RDWR);
    // Its look at a TLS connection takes any byte for life, a hang-up or not: none may stay. TCP drops them uncopied
    // (tcp(7), MSG_TRUNC); 16 MiB at most are there, and what comes later is answered with RST.
    for (int i = 0; i < 16; i++)
        if (recv(fd, NULL, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) <= 0) break;
}

/// Bytes, an end or an error.
static bool has_news(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

void ccurl_idle_ready(ccurl_loop *loop, int fd) {
    // What made it ready may have been the end of the last answer, read since then in the same turn.
    if (has_news(fd)) ccurl_idle_retire(loop, fd);
}

void ccurl_idle_taken(ccurl_transfer *t) {
    if (t->taken < 0 || !t->loop->descriptors[t->taken].idle) return;
    ccurl_idle_end(t->loop, t->taken);
    // Until libcurl asks for it, which it does when the transfer goes on.
    ccurl_descriptor *d = ccurl_loop_touch(t->loop, t->taken);
    if (d) d->wanted = 0;
}

bool ccurl_idle_check(ccurl_transfer *t, int port) {
    t->taken = -1;
    SSL *tls = ccurl_tls_of(t->easy);
    if (tls) {
        const unsigned char *name = NULL;
        unsigned length = 0;
        SSL_get0_alpn_selected(tls, &name, &length);
        // What the answer's first line says is no proof: libcurl takes "HTTP/2 200" on any connection.
        if (length == 2 && memcmp(name, "h2", 2) == 0) return true;
    }
    // libcurl does not tell the descriptor here, only its port. Two connections may have the same one, to different
    // servers; one that has news is to go anyway.
    for (int fd = 0; port && fd < t->loop->descriptor_capacity; fd++) {
        if (t->loop->idle_ports[fd] != port) continue;
        // A TLS record may hold more than the answer that it ended: those bytes the kernel does not have any more.
        if ((tls && SSL_has_pending(tls)) || has_news(fd)) ccurl_idle_retire(t->loop, fd);
        // Not so the one that is taken: the others stay watched.
        else if (t->part && ccurl_socket_has_peer(fd, t->remote_ip, t->peer_port)) t->taken = fd;
    }
    return false;
}
