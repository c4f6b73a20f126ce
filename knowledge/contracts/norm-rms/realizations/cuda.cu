// SPDX-License-Identifier: MIT
// norm.rms: out[rows, n] = x / sqrt(mean(x^2) + eps) * gain, f32; a block takes a row, squares summed in chunks whose
// order follows from n alone: the bits of a norm fused with a product (linear.fragments). Target: any NVIDIA GPU from
// compute capability 8.0; max |error| 1e-6 * |out|.
// applies: hardware.platform=cuda
// requires: runtime.cuda, cuda.instructions, linear.fragments
#include "norm_rms.h"
#include "linear_fragments.h"

constexpr int most_threads = norm_chunks * warp_size;

static __device__ void store_four(float* row, int k, int n, float4 v) {
  if (k + 4 <= n) {
    *reinterpret_cast<float4*>(row + k) = v;
    return;
  }
  row[k] = v.x;
  if (k + 1 < n) row[k + 1] = v.y;
  if (k + 2 < n) row[k + 2] = v.z;
}

// Each thread writes what it alone reads after the barrier, so out may be x.
static __global__ void __launch_bounds__(most_threads)
    norm_rows(float* out, int64_t out_stride, const float* x, int64_t x_stride, const float* gain, int n) {
  __shared__ float chunks[norm_chunks];
  const float* from = x + blockIdx.x * x_stride;
  const int warps = blockDim.x / warp_size;
  for (int chunk = threadIdx.x / warp_size; chunk * norm_chunk(n) < n; chunk += warps) {
    const float sum = chunk_squares(from, chunk, n);
    if (threadIdx.x % warp_size == 0) chunks[chunk] = sum;
  }
  __syncthreads();
  const float scale = inverse_rms(chunks, n);
  for (int k = 4 * static_cast<int>(threadIdx.x); k < n; k += 4 * static_cast<int>(blockDim.x))
    store_four(out + blockIdx.x * out_stride, k, n, normalise(load_four(from, k, n), scale, load_four(gain, k, n)));
}

void rms_norm(Context&, int num_rows, View out, View x, View gain) {
  const int64_t threads = std::min<int64_t>(most_threads, round_up((gain.columns + 3) / 4, warp_size));
  launch("norm of rows", norm_rows, dim3(static_cast<unsigned>(num_rows)), dim3(static_cast<unsigned>(threads)),
         out.row(0), out.row_stride, x.row(0), x.row_stride, gain.row(0), gain.columns);
}
