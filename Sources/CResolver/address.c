// SPDX-License-Identifier: Apache-2.0
#include "cresolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/// A range of addresses: all that begin with the first `bits` bits of `bytes`.
typedef struct {
    uint8_t bytes[16];
    uint8_t bits;
} prefix;

// From IANA's registries: all ranges that are not plain unicast on the public internet.
static const prefix denied4[] = {
    {{0}, 8},                 // this network
    {{10}, 8},                // private
    {{100, 64}, 10},          // carrier-grade NAT
    {{127}, 8},               // loopback
    {{169, 254}, 16},         // link-local, cloud metadata
    {{172, 16}, 12},          // private
    {{192, 0, 0}, 24},        // protocol assignments
    {{192, 0, 2}, 24},        // documentation
    {{192, 88, 99}, 24},      // 6to4 relays
    {{192, 168}, 16},         // private
    {{198, 18}, 15},          // benchmarks
    {{198, 51, 100}, 24},     // documentation
    {{203, 0, 113}, 24},      // documentation
    {{224}, 4},               // multicast
    {{240}, 4},               // reserved, broadcast
};

// Forms that contain an IPv4 address are refused as a whole, since no public service needs them. ::ffff:0:0/96 is not
// in the list: the kernel connects to it over IPv4, so `cresolver_address_is_public` applies the IPv4 rules.
static const prefix denied6[] = {
    {{0}, 96},                                                        // ::, ::1, IPv4-compatible
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},                       // ::ffff:0:0:0/96, IPv4-translated
    {{0, 0x64, 0xff, 0x9b}, 96},                                      // NAT64
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48},                                // local NAT64
    {{0x01}, 64},                                                     // discard
    {{0x20, 0x01}, 32},                                               // Teredo
    {{0x20, 0x01, 0, 0x02}, 48},                                      // benchmarks
    {{0x20, 0x01, 0, 0x10}, 28},                                      // ORCHID
    {{0x20, 0x01, 0, 0x20}, 28},                                      // ORCHIDv2
    {{0x20, 0x01, 0x0d, 0xb8}, 32},                                   // documentation
    {{0x20, 0x02}, 16},                                               // 6to4
    {{0x3f, 0xff}, 20},                                               // documentation
    {{0x5f, 0x00}, 16},                                               // segment routing
    {{0xfc}, 7},                                                      // unique local, cloud metadata
    {{0xfe, 0x80}, 10},                                               // link-local
    {{0xfe, 0xc0}, 10},                                               // site-local
    {{0xff}, 8},                                                      // multicast
};

static bool within(const uint8_t *address, const prefix *p) {
    unsigned whole = p->bits / 8, rest = p->bits % 8;
    if (memcmp(address, p->bytes, whole) != 0) return false;
    if (rest == 0) return true;
    uint8_t mask = (uint8_t)(0xff << (8 - rest));
    return (address[whole] & mask) == (p->bytes[whole] & mask);
}

static bool public4(const uint8_t *address) {
    for (size_t i = 0; i < sizeof denied4 / sizeof *denied4; i++)
        if (within(address, &denied4[i])) return false;
    return true;
}

bool cresolver_address_is_public(const uint8_t *bytes, size_t length) {
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (length == 4) return public4(bytes);
    if (length != 16) return false;
    if (memcmp(bytes, mapped, sizeof mapped) == 0) return public4(bytes + 12);
    for (size_t i = 0; i < sizeof denied6 / sizeof *denied6; i++)
        if (within(bytes, &denied6[i])) return false;
    return true;
}

bool cresolver_socket_address_is_public(int family, const struct sockaddr *address, socklen_t length) {
    if (family == AF_INET) {
        struct sockaddr_in a;
        memcpy(&a, address, sizeof a);
        return cresolver_address_is_public((const uint8_t *)&a.sin_addr, 4);
    }
    if (family != AF_INET6 || length < sizeof(struct sockaddr_in6)) return false;
    struct sockaddr_in6 a;
    memcpy(&a, address, sizeof a);
    return cresolver_address_is_public((const uint8_t *)&a.sin6_addr, 16);
}

int cresolver_address_text_is_public(const char *text) {
    uint8_t bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1) return cresolver_address_is_public(bytes, 4);
    if (inet_pton(AF_INET6, text, bytes) == 1) return cresolver_address_is_public(bytes, 16);
    return -1;
}

bool cresolver_address_is(const struct sockaddr_storage *a, socklen_t length, const char *host, int port) {
    const struct sockaddr *any = (const struct sockaddr *)a;
    char name[64], service[8];
    int flags = NI_NUMERICHOST | NI_NUMERICSERV;
    if (getnameinfo(any, length, name, sizeof name, service, sizeof service, flags) != 0) return false;
    name[strcspn(name, "%")] = 0;
    return atoi(service) == port && strcmp(name, host) == 0;
}

uint16_t cresolver_socket_port(int fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {0};
    socklen_t length = sizeof a;
    if (getsockname(fd, &a.any, &length) != 0) return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

bool cresolver_socket_has_peer(int fd, const char *host, int port) {
    struct sockaddr_storage a;
    socklen_t length = sizeof a;
    return getpeername(fd, (struct sockaddr *)&a, &length) == 0 && cresolver_address_is(&a, length, host, port);
}
