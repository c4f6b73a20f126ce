// SPDX-License-Identifier: MIT
// harness.protocol: version 1 of the binary protocol in which the harness drives the engine.
#pragma once
#include "format_json.h"
#include "text_generation.h"

// Serves frames until quit or the end of input; returns the exit status (0, or 1 after a malformed frame).
int serve_harness(Context& ctx, int in_fd, int out_fd);
// Sets what "generate" takes but for the prompt's text; false (or EngineError) where no such name or value exists.
bool set_parameter(GenerationRequest& request, std::string_view name, const Json& value);
