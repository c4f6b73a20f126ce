// SPDX-License-Identifier: MIT
// checkpoint.config: is this folder's config.json the model this engine was made for?
#pragma once
#include "runtime_context.h"

// EngineError names every key that disagrees with config.h, or whose meaning this engine doesn't implement.
void check_config(const std::string& folder);
