// SPDX-License-Identifier: Apache-2.0
#include "clinux.h"

#include <fcntl.h>
#include <signal.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static char *no_arguments[] = {NULL};
static char **arguments = no_arguments;

// The C library passes the arguments of main to constructors too.
__attribute__((constructor)) static void keep_arguments(int count, char **words) {
    if (count > 0) arguments = words;
}

char **clinux_arguments(void) { return arguments; }

int clinux_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

int clinux_spawn_close_and_chdir(posix_spawn_file_actions_t *actions) {
    int rc = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return rc != 0 ? rc : posix_spawn_file_actions_addchdir_np(actions, "/");
}

short clinux_spawn_flags(void) {
    return POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK;
}

int clinux_terminal_size(int descriptor, int *columns, int *rows) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

int clinux_unconfirmed(int descriptor) {
    int domain = 0, bytes = 0;
    socklen_t size = sizeof domain;
    // For a local socket the number is what the other side has not read, however long ago it was sent.
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain == AF_UNIX) return 0;
    return ioctl(descriptor, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

int clinux_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// A look-up of a name needs four descriptors for a moment. Fewer than twice that count as a shortage.
enum { SPARE = 8 };

bool clinux_is_short_of_descriptors(void) {
    int spare[SPARE], count = 0;
    while (count < SPARE && (spare[count] = eventfd(0, EFD_CLOEXEC)) >= 0) count++;
    for (int i = 0; i < count; i++) close(spare[i]);
    return count < SPARE;
}
