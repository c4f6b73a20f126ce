// SPDX-License-Identifier: MIT
// norm.rms: root-mean-square normalisation of each row, times a learned gain.
#pragma once
#include "runtime_context.h"

// out = x / sqrt(mean(x^2) + rms_norm_eps) * gain over gain.columns elements; out may be x.
void rms_norm(Context& ctx, int num_rows, View out /*[num_rows, n]*/, View x /*[num_rows, n]*/, View gain /*[1, n]*/);
