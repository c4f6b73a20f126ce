// SPDX-License-Identifier: MIT
// checkpoint.safetensors: maps model.safetensors or the shards of its index, checks every header against the file
// (sizes, dtypes, shapes, gaps and overlaps) and hands out tensors [shape] F32, BF16 or F16 in place.
// Target: any little-endian POSIX system; conversions to f32 are exact.
// applies: hardware.platform=cpu-x86_64|cuda
#include "checkpoint_safetensors.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "format_json.h"

static std::shared_ptr<const char> map_file(const std::string& path, size_t& size) {
  struct stat status {};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) throw EngineError("cannot open " + path + ": " + std::strerror(errno));
  const size_t bytes = size = static_cast<size_t>(status.st_size);
  void* data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) throw EngineError("cannot map " + path + ": " + std::strerror(errno));
  return {static_cast<const char*>(data), [bytes](const char* at) { munmap(const_cast<char*>(at), bytes); }};
}

// The tensor of one header entry; its bytes lie at [begin, end) of the data section.
static Tensor read_entry(const std::string& name, const Json& entry, int64_t& begin, int64_t& end) {
  const Json &shape = entry.at("shape"), &offsets = entry.at("data_offsets");
  const std::string& dtype = entry.at("dtype").string;
  if (shape.kind != Json::Kind::array || offsets.items.size() != 2) throw EngineError("needs shape and 2 offsets");
  Tensor tensor{name, dtype == "F32" ? DType::f32 : dtype == "BF16" ? DType::bf16 : DType::f16, {}, nullptr};
  if (dtype != dtype_name(tensor.dtype)) throw EngineError("dtype " + dtype + " is not F32, BF16 or F16");
  int64_t bytes = element_bytes(tensor.dtype);
  for (const Json& item : shape.items) {
    const int64_t size = tensor.shape.emplace_back(item.integer());
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) throw EngineError("impossible shape");
  }
  begin = offsets.items[0].integer();
  end = offsets.items[1].integer();
  if (end - begin != bytes) throw EngineError("shape and data_offsets disagree");
  return tensor;
}

static void add_file(Checkpoint& checkpoint, const std::string& path) {
  size_t size = 0;
  const std::shared_ptr<const char> file = map_file(path, size);
  uint64_t header = 0;
  if (size >= 8) std::memcpy(&header, file.get(), 8);
  if (header == 0 || header > size - 8) throw EngineError(path + ": truncated, or not a safetensors file");
  const int64_t data_bytes = static_cast<int64_t>(size - 8 - header);
  const Json json = parse_json({file.get() + 8, header}, path + " (header)");
  if (json.kind != Json::Kind::object) throw EngineError(path + ": the header is not a JSON object");
  std::vector<std::pair<int64_t, int64_t>> ranges = {{data_bytes, data_bytes}};
  for (const auto& [name, entry] : json.members) {
    if (name == "__metadata__") continue;
    auto& [begin, end] = ranges.emplace_back();
    try {
      Tensor tensor = read_entry(name, entry, begin, end);
      if (begin < 0 || end > data_bytes) throw EngineError("lies outside the file, which may be truncated");
      tensor.data = file.get() + 8 + header + begin;
      checkpoint.add(std::move(tensor), file);
    } catch (const EngineError& error) {
      throw EngineError(path + ": tensor " + name + ": " + error.what());
    }
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) throw EngineError(path + ": overlap or gap at " + std::to_string(begin) + " of the data");
    covered = end;
  }
}

static void add_shards(Checkpoint& checkpoint, const std::string& folder, const std::string& index) {
  const Json json = parse_json_file(index);
  const Json* map = json.find("weight_map");
  if (map == nullptr || map->members.empty()) throw EngineError(index + ": no weight_map");
  std::map<std::string, std::vector<std::string>> shards;  // file, its tensors
  for (const auto& [name, shard] : map->members) shards[shard.string].push_back(name);
  for (const auto& [shard, names] : shards) {
    if (shard.empty() || shard.find('/') != shard.npos)
      throw EngineError(index + ": not a file name: " + json_quote(shard));
    const size_t before = checkpoint.ledger().size();
    add_file(checkpoint, folder + "/" + shard);
    for (const std::string& name : names)
      if (!checkpoint.has(name)) throw EngineError(index + ": " + shard + " lacks tensor " + name);
    if (checkpoint.ledger().size() - before != names.size())
      throw EngineError(index + ": " + shard + " holds a tensor that isn't listed");
  }
}

static std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

void Checkpoint::add(Tensor tensor, std::shared_ptr<const void> owner) {
  const std::string name = tensor.name;
  if (!tensors_.emplace(name, std::move(tensor)).second) throw EngineError("is there twice");
  owners_.push_back(std::move(owner));
}

const Tensor& Checkpoint::take(const std::string& name, const std::vector<int64_t>& shape) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw EngineError("tensor " + name + " is missing");
  Tensor& tensor = found->second;
  if (tensor.shape != shape)
    throw EngineError("tensor " + name + " has shape " + shape_text(tensor.shape) + "; expected " + shape_text(shape));
  if (tensor.reads++ > 0) throw EngineError("tensor " + name + " is taken twice: this is a defect of the engine");
  return tensor;
}

void Checkpoint::finish() {
  std::string unread;
  for (auto& [name, tensor] : tensors_) {
    if (name.ends_with(".rotary_emb.inv_freq")) tensor.reads = 1;  // recomputed from the config
    if (tensor.reads == 0) unread += " " + name;
  }
  if (!unread.empty()) throw EngineError("tensors that this model doesn't have:" + unread);
}

Checkpoint open_checkpoint(const std::string& folder) {
  Checkpoint checkpoint;
  const std::string file = folder + "/model.safetensors", index = file + ".index.json";
  if (access(index.c_str(), F_OK) == 0) add_shards(checkpoint, folder, index);
  else add_file(checkpoint, file);
  return checkpoint;
}

const char* dtype_name(DType dtype) { return dtype == DType::f32 ? "F32" : dtype == DType::bf16 ? "BF16" : "F16"; }
int64_t element_bytes(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

void to_f32(const Tensor& tensor, int64_t first, int64_t count, float* out) {
  const char* from = static_cast<const char*>(tensor.data) + first * element_bytes(tensor.dtype);
  if (tensor.dtype == DType::f32) return void(std::memcpy(out, from, static_cast<size_t>(count) * 4));
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, 2);
    out[i] = tensor.dtype == DType::bf16 ? std::bit_cast<float>(uint32_t{bits} << 16) : std::bit_cast<_Float16>(bits);
  }
}

std::vector<float> take_vector(Checkpoint& checkpoint, const std::string& name, int64_t size) {
  std::vector<float> values(static_cast<size_t>(size));
  to_f32(checkpoint.take(name, {size}), 0, size, values.data());
  return values;
}
