// SPDX-License-Identifier: MIT
// embedding.scaled: the embedding table, and rows of it times config::embedding_scale.
#pragma once
#include "linear_dense.h"

