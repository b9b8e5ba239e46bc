// SPDX-License-Identifier: Apache-2.0
#include "silent_disk.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t spoken = PTHREAD_COND_INITIALIZER;
static char *silent;
static int passing;
static int waiting;

static void wait_while_silent(int file) {
    pthread_mutex_lock(&lock);
    bool any = silent;
    pthread_mutex_unlock(&lock);
    if (!any) return;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    pthread_mutex_lock(&lock);
    if (silent && strcmp(silent, path) == 0 && passing-- <= 0) {
        waiting++;
        while (silent) pthread_cond_wait(&spoken, &lock);
        waiting--;
    }
    pthread_mutex_unlock(&lock);
}

static void set(char *path, int first) {
    pthread_mutex_lock(&lock);
    passing = first;
    free(silent);
    silent = path;
    pthread_cond_broadcast(&spoken);
    pthread_mutex_unlock(&lock);
}

void silent_disk_begin(const char *path, int passing) { set(strdup(path), passing); }
void silent_disk_speak(void) { set(NULL, 0); }

int silent_disk_waiting(void) {
    pthread_mutex_lock(&lock);
    int count = waiting;
    pthread_mutex_unlock(&lock);
    return count;
}

int fsync(int file) {
    wait_while_silent(file);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_while_silent(file);
    return (int)syscall(SYS_fdatasync, file);
}

/// The agent calls it after it has opened a file to send.
int posix_fadvise(int file, off_t offset, off_t length, int advice) {
    wait_while_silent(file);
    return syscall(SYS_fadvise64, file, offset, length, advice) == 0 ? 0 : EINVAL;
}

ssize_t pread(int file, void *bytes, size_t length, off_t offset) {
    wait_while_silent(file);
    return syscall(SYS_pread64, file, bytes, length, offset);
}
