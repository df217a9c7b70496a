/* replace.h -- a file that takes another's place once it is whole. */
#ifndef WEFT__REPLACE_H
#define WEFT__REPLACE_H

#include "weft/base.h"

/* Written beside its place, as "path.tmp.<process>". Starts with begin, ends with
 * commit or abandon. */
typedef struct weft__replace {
    char *path;   /* its place */
    char *beside; /* where it is until then */
    int   fd;     /* open for reading and writing; -1: not open */
} weft__replace;

/* Make the file beside, empty. After a failure there is nothing to end. */
weft_status weft__replace_begin(weft__replace *file, const char *path);

/* Wait until what was written is on the disk. */
weft_status weft__replace_sync(const weft__replace *file);

/* Take the place. Ends it; after a failure the old file is there as before and the
 * new one gone. */
weft_status weft__replace_commit(weft__replace *file);

/* Remove the file beside. Ends it, keeps this thread's failure. */
void weft__replace_abandon(weft__replace *file);

#endif
