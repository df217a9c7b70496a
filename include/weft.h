/** @file weft.h -- all of Weft, in the order in which a reader meets it. */
#ifndef WEFT_H
#define WEFT_H

#include "weft/base.h"
#include "weft/tensor.h"
#include "weft/autograd.h"
#include "weft/ops.h"
#include "weft/nn.h"
#include "weft/optim.h"
#include "weft/io.h"
#include "weft/data.h"
#include "weft/comm.h"
#include "weft/parallel.h"
#include "weft/train.h"
#include "weft/program.h"

#endif
