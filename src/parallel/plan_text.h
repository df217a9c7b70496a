/* plan_text.h -- pieces of the plan in words. */
#ifndef WEFT__PLAN_TEXT_H
#define WEFT__PLAN_TEXT_H

#include "base/text.h"
#include "parallel/plan.h"

/* Add where c takes from, "x, l1 @0", and where what it gives goes, "l3 @0, output 0". */
weft_status weft__plan_add_from(weft__text *text, const weft__plan *plan, const weft__component *c);
weft_status weft__plan_add_to(weft__text *text, const weft__plan *plan, const weft__component *c);

#endif
