// SPDX-License-Identifier: MIT
// decoder.model, CUDA: embedding, num_layers of attention and MLP on the residual stream [rows, hidden_size] f32, final
// norm and head for the chosen rows only. A call uploads its rows in one copy, starts everything, and waits once, for
// the logits. Calls of few rows are captured into a graph, one per shape, which holds nothing of a row but where rows
// are found. Target: sm_80, sm_90; max |error of a logit| 1e-3.
// applies: hardware.platform=cuda
// requires: runtime.cuda
#include "decoder_model.h"
#include <tuple>
#include "attention_block.h"
#include "checkpoint_config.h"
#include "embedding_token.h"
#include "head_logits.h"
#include "mlp_gated.h"
#include "norm_rms.h"
#include "runtime_cuda.h"

namespace {
constexpr int graph_rows = 8;                                   // calls of so many rows are replayed
constexpr int logits_at_once = std::min(32, config::max_rows);  // rows of logits between two waits
constexpr int copy_threads = 256;

// What a call is told, in one piece.
struct Request {
  Row rows[config::max_rows];
  int32_t logit_rows[config::max_rows];
};

// Host memory that the device reads and writes by itself.
template <typename T>
class Pinned {
 public:
  explicit Pinned(size_t count) {
    check_cuda(cudaMallocHost(&data_, count * sizeof(T)), "no host memory for what is sent to the GPU");
  }
  Pinned(const Pinned&) = delete;
  ~Pinned() { ignore_cuda(cudaFreeHost(data_)); }
  T* get() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

// The work of one call, recorded; empty until then.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  ~Graph() {
    if (ready_ != nullptr) ignore_cuda(cudaGraphExecDestroy(ready_));
    if (recorded_ != nullptr) ignore_cuda(cudaGraphDestroy(recorded_));
  }
  bool is_recorded() const { return ready_ != nullptr; }
  template <typename Work>
  void record(const Work& work) {
    check_cuda(cudaStreamBeginCapture(engine_stream(), cudaStreamCaptureModeThreadLocal), "cannot record a graph");
    try {
      work();
    } catch (...) {
      ignore_cuda(cudaStreamEndCapture(engine_stream(), &recorded_));
      throw;
    }
    check_cuda(cudaStreamEndCapture(engine_stream(), &recorded_), "cannot end a graph");
    check_cuda(cudaGraphInstantiate(&ready_, recorded_, 0), "cannot make a graph ready");
  }
  void replay() const { check_cuda(cudaGraphLaunch(ready_, engine_stream()), "cannot start a graph"); }

 private:
  cudaGraph_t recorded_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

struct Weights {
  std::shared_ptr<const Linear> table, head;
  std::vector<std::shared_ptr<const AttentionWeights>> attention;
  std::vector<std::shared_ptr<const MlpWeights>> mlp;
  Memory final_norm;  // [hidden_size]
};

// What a graph is for: rows, logit rows, and where scratch begins.
using Shape = std::tuple<int, int, void*>;
}  // namespace

struct Model {
  Weights weights;
  std::map<std::string, Tensor> ledger;
  KvCache kv = {};
  Memory request{sizeof(Request), Memory::Pages::small};
  Pinned<Request> sent{1};
  Pinned<float> logits{size_t{logits_at_once} * config::vocab_size};
  std::map<Shape, Graph> graphs = {};
};

static void check(const char* what, int64_t value, int64_t limit) {
  if (value >= 0 && value < limit) return;
  throw EngineError(std::string(what) + " " + std::to_string(value) + " is outside 0.." + std::to_string(limit - 1));
}

// attention.core's sums of chunks come on top of what grows with the rows.
int64_t workspace_floats() {
  constexpr int64_t attention = 2 * (config::num_heads + config::num_kv_heads) * config::head_dim;
  constexpr int64_t mlp = 2 * int64_t{config::intermediate_size};
  constexpr int64_t padding = 8 * 16;  // each matrix rounds its rows up to 16 floats
  constexpr int64_t chunk_sums = int64_t{config::num_heads} * (config::max_context / 64 + 1) * (config::head_dim + 34);
  return config::max_rows * (3 * int64_t{config::hidden_size} + std::max(attention, mlp) + padding) +
         logits_at_once * round_up(config::vocab_size, 16) + std::max(int64_t{1} << 23, chunk_sums);
}

std::shared_ptr<Model> load_model(Context& ctx, const std::string& folder) {
  check_config(folder);
  Checkpoint checkpoint = open_checkpoint(folder);
  const auto table = std::make_shared<const Linear>(load_embedding(ctx, checkpoint));
  const auto rope_table = std::make_shared<const RopeTable>(load_rope(ctx));
  std::vector<std::shared_ptr<const AttentionWeights>> attention;
  std::vector<std::shared_ptr<const MlpWeights>> mlp;
  for (int layer = 0; layer < config::num_layers; ++layer) {
    attention.push_back(load_attention(ctx, checkpoint, layer, rope_table));
    mlp.push_back(load_mlp(ctx, checkpoint, layer));
  }
  Memory final_norm = to_memory(take_vector(checkpoint, "model.norm.weight", config::hidden_size));
  const auto head = load_head(ctx, checkpoint, table);
  checkpoint.finish();
  auto ledger = checkpoint.ledger();
  for (auto& [name, tensor] : ledger) tensor.data = nullptr;
  return std::shared_ptr<Model>(new Model{{table, head, attention, mlp, std::move(final_norm)}, ledger});
}

const std::map<std::string, Tensor>& model_ledger(const Model& model) { return model.ledger; }

int64_t model_kv_bytes(const Model& model) {
  return static_cast<int64_t>(model.kv.keys.bytes() + model.kv.values.bytes());
}

namespace {
// Block (chosen row): out[i] = hidden[logit_rows[i]].
__global__ void choose_rows(View out, View hidden, const int32_t* logit_rows) {
  const float* from = row_of(hidden, logit_rows[blockIdx.x]);
  for (int i = static_cast<int>(threadIdx.x); i < config::hidden_size; i += copy_threads)
    row_of(out, blockIdx.x)[i] = from[i];
}

// Hands the stages to a sink, in host memory; nothing where there is none.
struct Tracer {
  TraceSink sink;
  void* user;
  void show(int stage, int num_rows, View stream) const {
    if (sink == nullptr) return;
    std::vector<float> copy(static_cast<size_t>(num_rows * stream.row_stride));
    if (num_rows > 0) copy_memory(copy.data(), stream.data, copy.size() * 4);
    sink(user, stage, num_rows, {copy.data(), stream.row_stride, stream.columns, DType::f32, Device::host});
  }
};

// Rows' residual stream through all layers.
void run_layers(Context& ctx, Model& model, int num_rows, View hidden, const Tracer& tracer) {
  check_cuda(cudaMemcpyAsync(model.request.as<Request>(), model.sent.get(), sizeof(Request), cudaMemcpyHostToDevice,
                             engine_stream()),
             "cannot send rows");
  const Row* rows = model.request.as<Request>()->rows;
  embed(ctx, num_rows, rows, hidden, *model.weights.table);
  tracer.show(0, num_rows, hidden);
  for (int layer = 0; layer < config::num_layers; ++layer) {
    attention_block(ctx, num_rows, rows, hidden, *model.weights.attention[size_t(layer)], model.kv, layer);
    tracer.show(1 + 2 * layer, num_rows, hidden);
    mlp_block(ctx, num_rows, hidden, *model.weights.mlp[size_t(layer)]);
    tracer.show(2 + 2 * layer, num_rows, hidden);
  }
}

void norm_chosen(Context& ctx, Model& model, int num_logits, View chosen, View hidden, const Tracer& tracer) {
  launch("rows chosen", choose_rows, dim3(static_cast<unsigned>(num_logits)), copy_threads, chosen, hidden,
         model.request.as<Request>()->logit_rows);
  rms_norm(ctx, num_logits, chosen, chosen, memory_view(model.weights.final_norm, config::hidden_size));
  tracer.show(2 * config::num_layers + 1, num_logits, chosen);
}

// Logits of at most logits_at_once rows, on their way to the host.
void send_logits(Context& ctx, Model& model, int count, View chosen) {
  if (count == 0) return;
  const Workspace::Scope scope(ctx.workspace);
  const View logits = ctx.workspace.take(count, config::vocab_size);
  head_logits(ctx, count, logits, chosen, *model.weights.head);
  constexpr size_t row_bytes = size_t{config::vocab_size} * 4;
  check_cuda(cudaMemcpy2DAsync(model.logits.get(), row_bytes, logits.data, static_cast<size_t>(logits.row_stride) * 4,
                               row_bytes, static_cast<size_t>(count), cudaMemcpyDeviceToHost, engine_stream()),
             "cannot fetch logits");
}

void receive_logits(const Model& model, int count, View logits, int first) {
  check_cuda(cudaStreamSynchronize(engine_stream()), "forward");
  for (int i = 0; i < count; ++i)
    std::copy_n(model.logits.get() + size_t(i) * config::vocab_size, config::vocab_size, logits.row(first + i));
}

void forward_in_graph(Context& ctx, Model& model, int num_rows, int num_logits, View hidden, View chosen) {
  const auto work = [&] {
    run_layers(ctx, model, num_rows, hidden, {});
    norm_chosen(ctx, model, num_logits, chosen, hidden, {});
    send_logits(ctx, model, num_logits, chosen);
  };
  const auto [entry, is_new] = model.graphs.try_emplace(Shape{num_rows, num_logits, hidden.data});
  // The first call of a shape loads code and asks the device, which a recording may not.
  if (is_new) return work();
  if (!entry->second.is_recorded()) entry->second.record(work);
  entry->second.replay();
}
}  // namespace

void forward(Context& ctx, Model& model, std::span<const Row> rows, std::span<const int32_t> logit_rows, View logits,
             TraceSink sink, void* user) {
  const int num_rows = static_cast<int>(rows.size()), num_logits = static_cast<int>(logit_rows.size());
  check("number of rows", num_rows, config::max_rows + 1);
  check("number of logit rows", num_logits, config::max_rows + 1);
  for (const Row& row : rows) {
    check("token id", row.token, config::vocab_size);
    check("slot", row.slot, config::max_batch);
    check("position", row.position, config::max_context);
  }
  for (const int32_t row : logit_rows) check("logit row", row, num_rows);
  std::ranges::copy(rows, model.sent.get()->rows);
  std::ranges::copy(logit_rows, model.sent.get()->logit_rows);
  const Workspace::Scope scope(ctx.workspace);
  const View hidden = ctx.workspace.take(num_rows, config::hidden_size);
  const View chosen = ctx.workspace.take(num_logits, config::hidden_size);
  if (sink == nullptr && num_rows <= graph_rows && num_logits <= std::min(graph_rows, logits_at_once)) {
    forward_in_graph(ctx, model, num_rows, num_logits, hidden, chosen);
    return receive_logits(model, num_logits, logits, 0);
  }
  run_layers(ctx, model, num_rows, hidden, {sink, user});
  norm_chosen(ctx, model, num_logits, chosen, hidden, {sink, user});
  for (int first = 0; first < num_logits; first += logits_at_once) {
    const int count = std::min(logits_at_once, num_logits - first);
    View part = chosen;
    part.data = chosen.row(first);
    send_logits(ctx, model, count, part);
    receive_logits(model, count, logits, first);
  }
  if (num_logits == 0) receive_logits(model, 0, logits, 0);
}

void poison_state(Context& ctx, Model& model) {
  kv_poison(model.kv);
  ctx.workspace.poison();
}
