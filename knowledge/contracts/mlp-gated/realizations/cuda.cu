// SPDX-License-Identifier: MIT
// mlp.gated: hidden[rows, hidden_size] += down(silu(gate(n)) * up(n)), n = rms_norm(hidden); f32 activations, weights
// in fragments of the tensor cores. A band holds 16 outputs of gate and the same 16 of up, so one launch ends in
// silu(gate) * up, and for a few rows begins with the norm; the bits are the same with the norm apart.
// Target: any NVIDIA GPU from compute capability 8.0; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cuda
// requires: runtime.cuda, cuda.instructions, linear.fragments
#include "mlp_gated.h"
#include "linear_dense.h"
#include "linear_fragments.h"
#include "norm_rms.h"

constexpr int64_t width = config::intermediate_size;
constexpr int64_t packed_rows = 2 * ((width + stripe - 1) / stripe) * stripe;

struct MlpWeights {
  Memory norm;     // [hidden_size]
  Memory gate_up;  // fragments of [packed_rows, hidden_size]
  Linear down;
};

// Stripes of gate and up in turn.
static Memory pack_gate_up(Context& ctx, const Tensor& gate, const Tensor& up) {
  return pack_fragments(ctx, packed_rows, config::hidden_size, [&](int64_t row, float* values) {
    const int64_t source = row / band * stripe + row % stripe;
    if (source >= width) return false;
    to_f32(row % band < stripe ? gate : up, source * config::hidden_size, config::hidden_size, values);
    return true;
  });
}

std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", mlp = prefix + "mlp.";
  const Tensor& gate = checkpoint.take(mlp + "gate_proj.weight", {width, config::hidden_size});
  const Tensor& up = checkpoint.take(mlp + "up_proj.weight", {width, config::hidden_size});
  const Tensor* const down[] = {&checkpoint.take(mlp + "down_proj.weight", {config::hidden_size, width})};
  return std::make_shared<MlpWeights>(MlpWeights{
      to_memory(take_vector(checkpoint, prefix + "post_attention_layernorm.weight", config::hidden_size)),
      pack_gate_up(ctx, gate, up), load_linear(ctx, down)});
}

// data[row][column] = silu(gate) * up; e^-gate may be infinite, and the quotient then 0.
struct StoreGated {
  float* data;
  int64_t stride;
  __device__ void operator()(int64_t row, int output, float gate, float up) const {
    const int column = output / band * stripe + output % stripe;
    if (column < width) data[row * stride + column] = gate / (1.0f + expf(-gate)) * up;
  }
};

void mlp_block(Context& ctx, int num_rows, View hidden, const MlpWeights& weights) {
  const Workspace::Scope scope(ctx.workspace);
  const View inner = ctx.workspace.take(num_rows, width);
  const Fragments gate_up = fragments_of(weights.gate_up, packed_rows, config::hidden_size);
  const StoreGated store{inner.row(0), inner.row_stride};
  if (num_rows <= few_rows) {
    multiply_normed(num_rows, hidden, weights.norm.as<float>(), gate_up, store);
  } else {
    const View normed = ctx.workspace.take(num_rows, config::hidden_size);
    rms_norm(ctx, num_rows, normed, hidden, memory_view(weights.norm, config::hidden_size));
    multiply(num_rows, normed, gate_up, store);
  }
  linear_add(ctx, num_rows, hidden, inner, weights.down);
}
