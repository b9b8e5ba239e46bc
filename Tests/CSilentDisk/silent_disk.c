// SPDX-License-Identifier: Apache-2.0
#include "silent_disk.h"

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
static int waiting;

static void wait_for(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    pthread_mutex_lock(&lock);
    if (silent && strcmp(silent, path) == 0) {
        waiting++;
        while (silent) pthread_cond_wait(&spoken, &lock);
        waiting--;
    }
    pthread_mutex_unlock(&lock);
}

static void set(char *path) {
    pthread_mutex_lock(&lock);
    free(silent);
    silent = path;
    pthread_cond_broadcast(&spoken);
    pthread_mutex_unlock(&lock);
}

void silent_disk_begin(const char *path) { set(strdup(path)); }
void silent_disk_speak(void) { set(NULL); }

int silent_disk_waiting(void) {
    pthread_mutex_lock(&lock);
    int count = waiting;
    pthread_mutex_unlock(&lock);
    return count;
}

int fsync(int file) {
    wait_for(file);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_for(file);
    return (int)syscall(SYS_fdatasync, file);
}
