// SPDX-License-Identifier: MIT
// attention.capped: softmax(cap * tanh(q k^T * scale / cap)) v over the keys a row may see.
#pragma once
#include "kv_cache.h"

// A row at position p sees keys [max(0, p - window + 1), p] of its slot (window 0: from 0); head h reads KV head
// h / (num_heads / num_kv_heads). Keys up to p must have been appended, those of the rows of this call included.
void attention(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/, View out /*[num_rows, num_heads*head_dim]*/,
               View q /*[num_rows, num_heads*head_dim]*/, const KvCache& kv, int layer);
