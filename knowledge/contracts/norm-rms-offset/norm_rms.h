// SPDX-License-Identifier: MIT
// norm.rms-offset: each row divided by its root mean square, times 1 + gain.
#pragma once
#include "runtime_context.h"

// n = gain.columns. out may be x; otherwise they do not overlap.
void rms_norm(Context& ctx, int num_rows, View out /*[num_rows, n]*/, View x /*[num_rows, n]*/, View gain /*[1, n]*/);
