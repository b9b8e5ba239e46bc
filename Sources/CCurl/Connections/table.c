// SPDX-License-Identifier: Apache-2.0
//
// The table of descriptors: one entry per number, with its connection and the events that its owner waits for.
//
// Some ends of connections are not reported: libcurl 7.88 closes a socket without CLOSESOCKETFUNCTION if it has sent no
// request over it. Examples are the slower one of two address families, and a socket whose address refuses.
//
// The number of such a socket is then free for any file of the process, and for the next address. So a number counts as
// a connection only while it means the same socket.
#include "transfer.h"

#include <cresolver.h>
#include <sys/stat.h>

ccurl_descriptor *ccurl_table_touch(ccurl_loop *loop, int fd) {
    if (fd < 0) return NULL;
    if (fd >= loop->descriptor_capacity) {
        int capacity = loop->descriptor_capacity ? loop->descriptor_capacity : 64;
        while (capacity <= fd) capacity *= 2;
        ccurl_descriptor *grown = realloc(loop->descriptors, (size_t)capacity * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + loop->descriptor_capacity, 0, (size_t)(capacity - loop->descriptor_capacity) * sizeof *grown);
        loop->descriptors = grown;
        uint16_t *ports = realloc(loop->idle_ports, (size_t)capacity * sizeof *ports);
        if (!ports) return NULL;
        memset(ports + loop->descriptor_capacity, 0, (size_t)(capacity - loop->descriptor_capacity) * sizeof *ports);
        loop->idle_ports = ports;
        loop->descriptor_capacity = capacity;
    }
    ccurl_descriptor *d = &loop->descriptors[fd];
    if (!d->listed) {
        if (loop->dirty_count == loop->dirty_capacity) {
            int capacity = loop->dirty_capacity ? loop->dirty_capacity * 2 : 64;
            int *grown = realloc(loop->dirty, (size_t)capacity * sizeof *grown);
            if (!grown) return NULL;
            loop->dirty = grown;
            loop->dirty_capacity = capacity;
        }
        loop->dirty[loop->dirty_count++] = fd;
        d->listed = true;
    }
    return d;
}

// A connection that becomes idle and is used again causes no epoll_ctl, since the owner always waits for its bytes.
// Only the difference between the owner's interest and the wanted interest is returned.
int ccurl_loop_take_changes(ccurl_loop *loop, ccurl_socket_change *out, int capacity) {
    int count = 0;
    while (loop->dirty_next < loop->dirty_count && count + 2 <= capacity) {
        int fd = loop->dirty[loop->dirty_next++];
        ccurl_descriptor *d = &loop->descriptors[fd];
        d->listed = false;
        if (d->closed && d->applied) {
            out[count++] = (ccurl_socket_change){.fd = fd};
            d->applied = 0;
        }
        d->closed = false;
        if (d->wanted != d->applied) {
            out[count++] = (ccurl_socket_change){fd, .read = d->wanted & EVENT_READ, .write = d->wanted & EVENT_WRITE};
            d->applied = d->wanted;
        }
    }
    if (loop->dirty_next == loop->dirty_count) loop->dirty_next = loop->dirty_count = 0;
    return count;
}

void ccurl_table_set_idle(ccurl_loop *loop, int fd) {
    ccurl_descriptor *d = &loop->descriptors[fd];
    // One system call per connection, not per request.
    if (!d->port) d->port = cresolver_socket_port(fd);
    d->idle = true;
    loop->idle_ports[fd] = d->port;
}

void ccurl_table_set_used(ccurl_loop *loop, int fd) {
    loop->descriptors[fd].idle = false;
    loop->idle_ports[fd] = 0;
}

void ccurl_table_opened(ccurl_pool *pool, ccurl_descriptor *d) {
    d->home = pool->index;
    pool->open++;
    pool->loop->held++;
}

void ccurl_table_closed(ccurl_loop *loop, ccurl_descriptor *d) {
    d->idle_since = 0;
    if (!d->open) return;
    if (d->retired) loop->pools[d->home]->retired--;
    d->retired = false;
    loop->pools[d->home]->open--;
    loop->held--;
}

void ccurl_table_emptied(ccurl_pool *pool) {
    ccurl_loop *loop = pool->loop;
    for (int fd = 0; pool->open > 0 && fd < loop->descriptor_capacity; fd++) {
        ccurl_descriptor *d = &loop->descriptors[fd];
        if (!d->open || d->home != pool->index) continue;
        ccurl_table_closed(loop, d);
        d->open = false;
    }
}

void ccurl_table_forget(ccurl_loop *loop, int fd) {
    ccurl_table_set_used(loop, fd);
    ccurl_table_closed(loop, &loop->descriptors[fd]);
    loop->descriptors[fd].open = false;
    loop->descriptors[fd].applied = 0;
}

bool ccurl_socket_is_open(ccurl_loop *loop, int fd) {
    const ccurl_descriptor *d = &loop->descriptors[fd];
    if (!d->open) return false;
    struct stat file;
    if (fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode) && file.st_ino == d->inode) return true;
    ccurl_table_forget(loop, fd);
    return false;
}
