/* progress.h -- a progress bar, told the time: for tests. */
#ifndef WEFT__PROGRESS_H
#define WEFT__PROGRESS_H

#include "weft/train.h"

/* weft_progress_step() at a time of weft_seconds()'s clock. */
void weft__progress_step_at(weft_progress *progress, int64_t step, double epoch, double now);

/* Take everything measured so far as measured at `now`. */
void weft__progress_begin_at(weft_progress *progress, double now);

#endif
