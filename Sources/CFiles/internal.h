// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of this target. Each uses only files that stand before it: beneath.c, expire.c, note.c, disk.c,
// fill.c, part.c, file.c. The loop uses cfiles.h.
#ifndef CFILES_INTERNAL_H
#define CFILES_INTERNAL_H

#include "cfiles.h"

#include <limits.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <time.h>

enum {
    /// The buffer between the loop and the thread, for each running download.
    RING = 256 * 1024,
    /// The loop wakes the thread when the ring has this many bytes to write, or this much room for a file to read.
    BATCH = 64 * 1024,
    /// The thread hashes at most this many bytes before other work gets its turn.
    HASH_SLICE = 1024 * 1024,
    /// The thread reads at most this many bytes of a note. A longer note counts as torn.
    NOTE_LIMIT = 16 * 1024,
    /// The length of `.part.meta.new`.
    LONGEST_SUFFIX = 14,
};
/// A part becomes durable after so many new bytes, or so much time. A killed process must fetch at most this again.
#define CHECKPOINT_BYTES ((int64_t)16 * 1024 * 1024)
#define CHECKPOINT_NS ((int64_t)5000000000)

/// Work for the thread: a part that is filled, or a file that is read.
typedef struct cfiles_work cfiles_work;
struct cfiles_work {
    cfiles_disk *disk;
    /// The path below the root, for messages. The part or file owns the text.
    const char *path;
    bool is_part;
    /// Does one bounded piece of work. True if more is left.
    bool (*step)(cfiles_work *);
    void (*destroy)(cfiles_work *);
    // Protected by the disk's lock.
    cfiles_work *next;
    /// Whether it is in the queue, whether its owner has freed it, and whether it needs no more steps to end. The
    /// thread destroys work that is freed and settled.
    bool queued, freed, settled;
};

struct cfiles_disk {
    pthread_t thread;
    pthread_mutex_t lock;
    /// Signalled when there is something to do.
    pthread_cond_t work;
    /// The eventfd that becomes readable when a state has changed.
    int event;
    // Used by the thread only, because even opening the root may hang.
    char *path;
    int root;
    // Protected by the lock.
    /// The queue for the thread, and its current work.
    cfiles_work *first, *last, *current;
    /// When the thread began its current work or, if idle, was given work: monotonic nanoseconds.
    int64_t since;
    /// The age in seconds from which parts are removed in a walk that is due; 0: none is due.
    int64_t expire_after;
    bool stop;
    // Used by the thread only.
    /// The name of this process in notes.
    char *holder;
    /// The thread's buffer for hashing bytes on disk.
    uint8_t *slice;
};

/// How the owner wants a part to end.
enum { END_NONE, END_SUSPEND, END_FINISH };

struct cfiles_part {
    cfiles_work work;
    char *path;
    /// The expected hash, if `checks`.
    uint8_t sha256[32];
    bool checks;
    // Protected by the disk's lock.
    /// Whether the loop found no room, whether all bytes are to be written, and whether a begin waits for the thread.
    bool starved, flush, begins;
    int end;
    int64_t begin_offset;
    char *begin_text;
    /// It contains the bytes from `tail` to `head`. Both count all bytes that were ever appended.
    uint8_t *ring;
    uint64_t head, tail;
    cfiles_part_state state;
    cfiles_part_stage stage;
    int os_errno;
    int64_t found, durable, written;
    /// Written by the thread only, with the lock held once the part is open.
    char *text;
    // Used by the thread. The loop reads `holder` only between opening and begin.
    int directory, file;
    char name[NAME_MAX + 1];
    char holder[128];
    bool begun;
    /// The durable bytes that the note counts, the time of the last checkpoint, and how many bytes are hashed.
    int64_t noted, checkpoint_ns, hashed;
    EVP_MD_CTX *hash;
};

/// CLOCK_MONOTONIC in nanoseconds.
static inline int64_t cfiles_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// beneath.c
/// Releases the lock explicitly. If another thread forks at this moment, the child keeps the file open until its exec.
/// It would also keep the lock.
void cfiles_unlock_and_close(int file);
// expire.c
/// Walks the tree. It calls `pause` between entries, so that downloads continue.
void cfiles_expire_walk(int root, int64_t seconds, void (*pause)(void *), void *context);
// note.c, all on the thread. Each returns 0 or an errno.
int cfiles_note_read(cfiles_part *p);
int cfiles_note_write(cfiles_part *p, int64_t durable, bool sync_directory);
void cfiles_note_remove(cfiles_part *p);
int cfiles_sync_directory(int directory);
void cfiles_suffixed(char *out, const char *name, const char *suffix);
// disk.c
/// Gives the thread work. The caller holds the lock.
void cfiles_disk_enqueue(cfiles_work *w);
/// Since when the thread has worked on the same step while this work waits; otherwise 0. The caller holds the lock.
int64_t cfiles_disk_waits_since(const cfiles_work *w);
/// Makes the disk's descriptor readable.
void cfiles_disk_notify(cfiles_disk *d);
// fill.c
/// The step and the end of a part, for its `cfiles_work`.
bool cfiles_part_step(cfiles_work *w);
void cfiles_part_destroy(cfiles_work *w);

#endif
