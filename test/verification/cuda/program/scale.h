#pragma once
// Multiplies host values by a factor, on the device. What CUDA says where it fails; else empty.
#include <string>
std::string scale(float* values /*[count]*/, int count, float factor);
