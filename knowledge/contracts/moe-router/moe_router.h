// SPDX-License-Identifier: MIT
// moe.router: which experts each row goes through, and how much each of them counts.
#pragma once
#include "runtime_context.h"

// experts is host memory. Best first; of equal scores the expert of the lowest index.
void route(Context& ctx, int num_rows, View scores /*[num_rows, num_experts]*/,
           int32_t* experts /*[num_rows, experts_per_token]*/, View weights /*[num_rows, experts_per_token]*/);
