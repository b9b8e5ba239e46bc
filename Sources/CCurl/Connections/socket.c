// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that open and close the sockets of connections, and the end of a failed HTTP/2 session.
#include "transfer.h"

#include <cresolver.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/// CURLOPT_OPENSOCKETFUNCTION: checks each address before it is connected.
curl_socket_t ccurl_socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    ccurl_transfer *t = context;
    ccurl_names_read(t);
    // The operator has chosen the proxy, which may have any address. The address behind it is not visible here.
    if (t->public_only && !(t->transport && t->transport->settings.proxy)) {
        if (!cresolver_socket_address_is_public(address->family, &address->addr, address->addrlen)) {
            t->facts.denied = true;
            return CURL_SOCKET_BAD;
        }
    }
    // Decided once: the sockets of all address families count as one connection.
    if (!t->opened) ccurl_descriptors_opening(t);
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) t->opened = true;
    if (fd < 0) {
        t->facts.out_of_descriptors = errno == EMFILE || errno == ENFILE;
        return CURL_SOCKET_BAD;
    }
    ccurl_descriptor *d = ccurl_table_touch(t->loop, fd);
    if (!d) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    ccurl_table_forget(t->loop, fd);
    struct stat file;
    d->open = fstat(fd, &file) == 0;
    d->inode = d->open ? file.st_ino : 0;
    d->port = 0;
    d->idle_since = 0;
    if (d->open) ccurl_table_opened(t->home, d);
    return fd;
}

int ccurl_socket_close(void *context, curl_socket_t fd) {
    ccurl_descriptor *d = ccurl_table_touch(context, fd);
    if (d) {
        ccurl_table_set_used(context, fd);
        ccurl_table_closed(context, d);
        d->open = false;
        d->closed = true;
        d->wanted = 0;
    }
    return close(fd);
}

bool ccurl_session_is_broken(const ccurl_transfer *t) {
    return t->multiplexed && strstr(t->error_text, "nghttp2_session_mem_recv() returned") != NULL;
}

void ccurl_socket_end(const ccurl_transfer *t) {
    // libcurl 7.88 does not end the other transfers, which would wait until their limits while new ones join. It does
    // not report the descriptor either.
    for (int fd = 0; fd < t->loop->descriptor_capacity; fd++) {
        if (!t->loop->descriptors[fd].open || cresolver_socket_port(fd) != t->local_port) continue;
        if (cresolver_socket_has_peer(fd, t->remote_ip, t->peer_port) && ccurl_socket_is_open(t->loop, fd))
            shutdown(fd, SHUT_RD);
    }
}
