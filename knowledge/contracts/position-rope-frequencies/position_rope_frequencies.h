// SPDX-License-Identifier: MIT
// position.rope-frequencies: the angle per position of each rotary pair, after the model's scaling.
#pragma once
#include "runtime_context.h"

void rope_frequencies(double* inv_freq /*[head_dim/2]*/);
// Multiplies cos and sin (transformers' attention_factor); 1 but for yarn.
double rope_attention_factor();
