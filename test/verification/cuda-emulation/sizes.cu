// SPDX-License-Identifier: MIT
// Compiled for a device and for host emulation: sizes by which a program could tell one from the other.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename T, int size, int alignment>
inline constexpr bool is_laid_out = sizeof(T) == size && alignof(T) == alignment;

static_assert(is_laid_out<cudaDeviceProp, 1008, 8>);
static_assert(is_laid_out<cudaLaunchConfig_t, 56, 8>);
static_assert(is_laid_out<cudaLaunchAttribute, 72, 8>);
static_assert(is_laid_out<cudaError_t, 4, 4> && is_laid_out<cudaStream_t, 8, 8>);
static_assert(is_laid_out<cudaGraph_t, 8, 8> && is_laid_out<cudaGraphExec_t, 8, 8>);
static_assert(is_laid_out<dim3, 12, 4> && is_laid_out<uint3, 12, 4>);
static_assert(is_laid_out<float2, 8, 8> && is_laid_out<int2, 8, 8> && is_laid_out<uint2, 8, 8>);
static_assert(is_laid_out<float4, 16, 16> && is_laid_out<int4, 16, 16> && is_laid_out<uint4, 16, 16>);
static_assert(is_laid_out<__half, 2, 2> && is_laid_out<__nv_bfloat16, 2, 2>);

int main() {}
