// SPDX-License-Identifier: Apache-2.0
//
// Downloads on their way to disk, and files on their way from it. A `ccurl_disk` is one helper thread that does all that may
// block: opening, reading, writing, hashing, syncing, renaming. The loop's thread only copies bytes into a part's ring and looks at its state; the
// disk's descriptor (an eventfd) becomes readable when there is something to look at.
//
// A download of `a/b` lies in `a/b.part` while it grows, with a note beside it, `a/b.part.meta`: who writes it, the
// owner's text, and how many bytes are durable. The note is replaced as a whole and never names a byte that is not.
#ifndef CCURL_DISK_H
#define CCURL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccurl_disk ccurl_disk;
typedef struct ccurl_part ccurl_part;
typedef struct ccurl_file ccurl_file;

typedef enum {
    CCURL_PART_OPENING,
    CCURL_PART_OPEN,
    /// Closed and kept for another attempt; nothing is left of one that holds no byte.
    CCURL_PART_SUSPENDED,
    /// Under its final name.
    CCURL_PART_DONE,
    CCURL_PART_FAILED,
} ccurl_part_state;

/// What could not be done.
typedef enum {
    CCURL_STAGE_NONE,
    CCURL_STAGE_PATH,
    CCURL_STAGE_KIND,
    CCURL_STAGE_LOCK,
    CCURL_STAGE_WRITE,
    CCURL_STAGE_NOTE,
    CCURL_STAGE_CHECKSUM,
    CCURL_STAGE_RENAME,
} ccurl_part_stage;

typedef struct {
    ccurl_part_state state;
    ccurl_part_stage stage;
    int os_errno;
    /// Durable bytes that the opening found, and that there are now.
    int64_t found, durable;
    /// Bytes that lie in the file, durable or not.
    int64_t written;
    /// There is room again after `ccurl_part_append` had none.
    bool has_room;
    /// The owner's text in the note that was found; null before the part is open. Holds until the next begin or free.
    const char *_Nullable text;
    /// Who holds the lock, if the stage is CCURL_STAGE_LOCK; may be empty.
    const char *_Nonnull holder;
    /// While there is something for the thread to do here: since when it is at the same piece of work, of whichever part, as
    /// `ccurl_now` tells the time. Else 0.
    int64_t waits_since;
} ccurl_part_status;

/// Starts the thread. `holder` names this process to others that find a part locked. Null: out of memory or threads.
ccurl_disk *_Nullable ccurl_disk_create(const char *_Nonnull root, const char *_Nonnull holder);
/// Finishes what is under way and ends the thread; every part has been freed before.
void ccurl_disk_destroy(ccurl_disk *_Nonnull disk);
/// Copies the path of what the thread is at, cut to so many bytes with their NUL; empty: it is at none. True: it is that of a part, and
/// a file lies there under its name with `.part`.
bool ccurl_disk_current(ccurl_disk *_Nonnull disk, char *_Nonnull path, size_t size);
int ccurl_disk_descriptor(const ccurl_disk *_Nonnull disk);
/// Makes the descriptor unreadable until the next news.
void ccurl_disk_drain(ccurl_disk *_Nonnull disk);
/// Lets the thread remove all parts below the root that nobody has touched for so long.
void ccurl_disk_expire(ccurl_disk *_Nonnull disk, int64_t seconds);

/// Opens and locks the part for `path`; directories on the way are made. `sha256`: 32 bytes, or null. Null: out of memory.
ccurl_part *_Nullable ccurl_part_open(
    ccurl_disk *_Nonnull disk, const char *_Nonnull path, const uint8_t *_Nullable sha256);
ccurl_part_status ccurl_part_look(ccurl_part *_Nonnull part);
/// What `ccurl_part_append` brings from now on follows byte `offset`; what lies behind it is cut off. With `text` the
/// note is written anew before the file is touched; without, it stays. False: out of memory.
bool ccurl_part_begin(ccurl_part *_Nonnull part, int64_t offset, const char *_Nullable text);
/// Copies bytes into the ring; all or, if there is no room or the part has failed, none.
bool ccurl_part_append(ccurl_part *_Nonnull part, const void *_Nonnull bytes, size_t length);
/// Writes out what is in the ring, and makes it durable if that was not done for some seconds.
void ccurl_part_flush(ccurl_part *_Nonnull part);
/// All is there: check the hash, sync, rename, sync the directory.
void ccurl_part_finish(ccurl_part *_Nonnull part);
/// Makes durable what is there and closes it.
void ccurl_part_suspend(ccurl_part *_Nonnull part);
/// Suspends it if it is open; the pointer is void from here on.
void ccurl_part_free(ccurl_part *_Nonnull part);

// MARK: files that are sent (file.c)

/// Between the thread and the loop, for the file of a call that is being sent and for what is read ahead of those behind it.
enum { CCURL_FILE_AHEAD = 256 * 1024 };

typedef enum { CCURL_FILE_OPENING, CCURL_FILE_OPEN, CCURL_FILE_REFUSED, CCURL_FILE_CHANGED } ccurl_file_state;

typedef enum {
    CCURL_FILE_ROOT, CCURL_FILE_ABSENT, CCURL_FILE_OUTSIDE, CCURL_FILE_LINK, CCURL_FILE_KIND, CCURL_FILE_UNREADABLE,
    CCURL_FILE_DESCRIPTORS,
} ccurl_file_refusal;

typedef struct {
    ccurl_file_state state;
    /// Why, if it is refused.
    ccurl_file_refusal refusal;
    /// Known once it is open.
    int64_t size;
    /// Some have been read that were not sent.
    bool has_bytes;
    /// As in `ccurl_part_status`.
    int64_t waits_since;
} ccurl_file_status;

/// Begins to open a regular file below the root, without following a link, and to read it if it is the first of its call. Null: out
/// of memory.
ccurl_file *_Nullable ccurl_file_open(ccurl_disk *_Nonnull disk, const char *_Nonnull path, bool is_first);
/// Begins to read it, open as it is; there is news when it has bytes.
void ccurl_file_read(ccurl_file *_Nonnull file);
ccurl_file_status ccurl_file_look(const ccurl_file *_Nonnull file);
/// The pointer is void from here on; the transfer that sends it has been stopped before.
void ccurl_file_free(ccurl_file *_Nonnull file);

/// SHA-256, 32 bytes, of a short text. False: the library refuses.
bool ccurl_sha256(const void *_Nonnull bytes, size_t length, uint8_t *_Nonnull out);

#endif
