// SPDX-License-Identifier: MIT
// Host emulation of the part of CUDA that engines may use; correctness of arithmetic only. See README.md.
#pragma once
#include "emulated-vectors.h"
#include "emulated-device.h"
#include "emulated-launch.h"
