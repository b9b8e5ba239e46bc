// SPDX-License-Identifier: Apache-2.0
//
// The sockets of connections, from their opening to their end. Some ends are not reported: libcurl 7.88 closes a socket
// without CLOSESOCKETFUNCTION if it has sent no request over it. Examples are the slower one of two address families,
// and a socket whose address refuses.
//
// The number of such a socket is then free for any file of the process, and for the next address. So a number counts as
// a connection only while it means the same socket.
#include "internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

/// Drops the previous socket of this number. The kernel has removed it from the owner's epoll set when it was closed.
/// The wanted interest stays: libcurl does not request it again if the new socket has the same number and direction.
static void forget(ccurl_loop *loop, int fd) {
    ccurl_idle_end(loop, fd);
    ccurl_descriptors_closed(loop, &loop->descriptors[fd]);
    loop->descriptors[fd].open = false;
    loop->descriptors[fd].applied = 0;
}

bool ccurl_socket_is_open(ccurl_loop *loop, int fd) {
    const ccurl_descriptor *d = &loop->descriptors[fd];
    if (!d->open) return false;
    struct stat file;
    if (fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode) && file.st_ino == d->inode) return true;
    forget(loop, fd);
    return false;
}

/// CURLOPT_OPENSOCKETFUNCTION: checks each address before it is connected.
curl_socket_t ccurl_socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    ccurl_transfer *t = context;
    ccurl_names_read(t);
    // The operator has chosen the proxy, which may have any address. The address behind it is not visible here.
    if (t->public_only && !(t->transport && t->transport->proxy)) {
        bool allowed = false;
        if (address->family == AF_INET) {
            struct sockaddr_in a;
            memcpy(&a, &address->addr, sizeof a);
            allowed = cresolver_address_is_public((const uint8_t *)&a.sin_addr, 4);
        } else if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
            struct sockaddr_in6 a;
            memcpy(&a, &address->addr, sizeof a);
            allowed = cresolver_address_is_public((const uint8_t *)&a.sin6_addr, 16);
        }
        if (!allowed) {
            t->denied = true;
            return CURL_SOCKET_BAD;
        }
    }
    // Decided once: the sockets of all address families count as one connection.
    if (!t->opened) ccurl_descriptors_opening(t);
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) t->opened = true;
    if (fd < 0) {
        t->out_of_descriptors = errno == EMFILE || errno == ENFILE;
        return CURL_SOCKET_BAD;
    }
    ccurl_descriptor *d = ccurl_loop_touch(t->loop, fd);
    if (!d) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    forget(t->loop, fd);
    struct stat file;
    d->open = fstat(fd, &file) == 0;
    d->inode = d->open ? file.st_ino : 0;
    d->port = 0;
    d->idle_since = 0;
    if (d->open) ccurl_descriptors_opened(t->home, d);
    return fd;
}

int ccurl_socket_close(void *context, curl_socket_t fd) {
    ccurl_descriptor *d = ccurl_loop_touch(context, fd);
    if (d) {
        ccurl_idle_end(context, fd);
        ccurl_descriptors_closed(context, d);
        d->open = false;
        d->closed = true;
        d->wanted = 0;
    }
    return close(fd);
}

bool ccurl_session_is_broken(const ccurl_transfer *t) {
    return t->multiplexed && strstr(t->error_text, "nghttp2_session_mem_recv() returned") != NULL;
}

uint16_t ccurl_socket_port(int fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {0};
    socklen_t length = sizeof a;
    if (getsockname(fd, &a.any, &length) != 0) return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

bool ccurl_socket_has_peer(int fd, const char *host, int port) {
    struct sockaddr_storage a;
    socklen_t length = sizeof a;
    return getpeername(fd, (struct sockaddr *)&a, &length) == 0 && cresolver_address_is(&a, length, host, port);
}

void ccurl_socket_end(const ccurl_transfer *t) {
    // libcurl 7.88 does not end the other transfers, which would wait until their limits while new ones join. It does
    // not report the descriptor either.
    for (int fd = 0; fd < t->loop->descriptor_capacity; fd++) {
        if (!t->loop->descriptors[fd].open || ccurl_socket_port(fd) != t->local_port) continue;
        if (ccurl_socket_has_peer(fd, t->remote_ip, t->peer_port) && ccurl_socket_is_open(t->loop, fd)) shutdown(fd, SHUT_RD);
    }
}
