// SPDX-License-Identifier: Apache-2.0
//
// Names and addresses of hosts, without HTTP: look-ups with glibc's resolver, and the rules for public addresses.
#ifndef CRESOLVER_H
#define CRESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

// MARK: look-ups of names (lookup.c)

/// A call waits for the answer for 100 ms. Then libcurl looks the name up.
#define CRESOLVER_LOOKUP_NS 100000000L

typedef struct cresolver_lookups cresolver_lookups;
/// The threads start with the first question and end after some idle seconds. Null without memory or descriptors.
cresolver_lookups *_Nullable cresolver_lookups_create(void);
/// Never blocks: a thread that waits for a name server ends later.
void cresolver_lookups_destroy(cresolver_lookups *_Nonnull lookups);
/// Readable when answers are available.
int cresolver_lookups_descriptor(const cresolver_lookups *_Nonnull lookups);
/// Begins to look a name up. False while the name server is slow.
bool cresolver_lookups_ask(cresolver_lookups *_Nonnull lookups, uint64_t ticket, const char *_Nonnull host, int port);
/// Makes the descriptor unreadable until the next answer, and collects the answers for `cresolver_lookups_next`.
void cresolver_lookups_drain(cresolver_lookups *_Nonnull lookups);
/// Returns the next answer, or false if none is left. `entry` has the addresses in the form of CURLOPT_RESOLVE, and is
/// valid until the next call. It is null if the name was not found, or if an address cannot be written as text.
bool cresolver_lookups_next(
    cresolver_lookups *_Nonnull lookups, uint64_t *_Nonnull ticket, const char *_Nullable *_Nonnull entry);

// MARK: addresses (address.c)

/// Whether a call to public addresses only may use this IPv4 (4 bytes) or IPv6 (16 bytes) address in network order.
bool cresolver_address_is_public(const uint8_t *_Nonnull bytes, size_t length);
/// The same for the address of a socket. False for other families.
bool cresolver_socket_address_is_public(int family, const struct sockaddr *_Nonnull address, socklen_t length);
/// The same for a text in the form of inet_pton; -1 if it is not an address.
int cresolver_address_text_is_public(const char *_Nonnull text);
/// Whether this is the address that libcurl calls `host`, without the scope of a link-local one (`fe80::1%eth0`).
bool cresolver_address_is(
    const struct sockaddr_storage *_Nonnull address, socklen_t length, const char *_Nonnull host, int port);
/// The local port of a socket; 0: unknown.
uint16_t cresolver_socket_port(int fd);
/// Whether the remote end of the socket has this address.
bool cresolver_socket_has_peer(int fd, const char *_Nonnull host, int port);

#endif
