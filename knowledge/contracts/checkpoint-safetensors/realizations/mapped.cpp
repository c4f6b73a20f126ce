// SPDX-License-Identifier: MIT
// checkpoint.safetensors: maps model.safetensors or the shards of its index, checks every header against the file (sizes,
// dtypes, shapes, gaps and overlaps) and hands out tensors [shape] F32, BF16 or F16 in place.
// Target: any little-endian POSIX system; conversions to f32 are exact.
// applies: hardware.platform=cpu-x86_64
#include "checkpoint_safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "format_json.h"

namespace {

struct MappedFile {
  std::shared_ptr<const char> data;
  int64_t size;
};

MappedFile map_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw EngineError("cannot open " + path + ": " + std::strerror(errno));
  struct stat status;
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const size_t size = regular ? static_cast<size_t>(status.st_size) : 0;
  void* data = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (data == MAP_FAILED) throw EngineError(path + ": not a file that can be mapped, or empty");
  return {std::shared_ptr<const char>(static_cast<const char*>(data), [size](const char* p) { munmap(const_cast<char*>(p), size); }),
          static_cast<int64_t>(size)};
}

// One tensor of the header; its bytes lie in [begin, end) of the data section of `bytes` bytes.
Tensor read_entry(const std::string& where, const std::string& name, const Json& entry, int64_t bytes, int64_t& begin,
                  int64_t& end) {
  const auto fail = [&](const std::string& what) -> EngineError { return EngineError(where + ": tensor " + name + ": " + what); };
  const Json *dtype = entry.find("dtype"), *shape = entry.find("shape"), *offsets = entry.find("data_offsets");
  if (dtype == nullptr || shape == nullptr || offsets == nullptr || offsets->items.size() != 2)
    throw fail("needs dtype, shape and two data_offsets");
  Tensor tensor{name, DType::f32, {}, nullptr};
  for (const DType known : {DType::f32, DType::bf16, DType::f16})
    if (dtype->string == dtype_name(known)) tensor.dtype = known;
  if (dtype->string != dtype_name(tensor.dtype)) throw fail("dtype " + dtype->string + " is not F32, BF16 or F16");
  int64_t expected = element_bytes(tensor.dtype);
  for (const Json& size : shape->items) {
    tensor.shape.push_back(size.integer());
    if (tensor.shape.back() < 0 || __builtin_mul_overflow(expected, tensor.shape.back(), &expected))
      throw fail("has an impossible shape");
  }
  begin = offsets->items[0].integer();
  end = offsets->items[1].integer();
  if (begin < 0 || begin > end || end > bytes) throw fail("lies outside the file");
  if (end - begin != expected) throw fail("shape and data_offsets disagree");
  return tensor;
}

void add_file(Checkpoint& checkpoint, const std::string& path) {
  const MappedFile file = map_file(path);
  int64_t header = 0;
  if (file.size >= 8) std::memcpy(&header, file.data.get(), 8);
  if (header <= 0 || header > file.size - 8) throw EngineError(path + ": truncated, or not a safetensors file");
  const Json entries = parse_json({file.data.get() + 8, static_cast<size_t>(header)}, path + " (header)");
  if (entries.kind != Json::Kind::object) throw EngineError(path + ": header is not an object");
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto& [name, entry] : entries.members) {
    if (name == "__metadata__") continue;
    int64_t begin = 0, end = 0;
    Tensor tensor = read_entry(path, name, entry, file.size - 8 - header, begin, end);
    tensor.data = file.data.get() + 8 + header + begin;
    ranges.emplace_back(begin, end);
    checkpoint.add(std::move(tensor), file.data);
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) throw EngineError(path + ": tensors overlap or leave a gap at byte " + std::to_string(covered) + " of the data");
    covered = end;
  }
  if (covered != file.size - 8 - header) throw EngineError(path + ": bytes after the last tensor");
}

void add_shards(Checkpoint& checkpoint, const std::string& folder, const std::string& index) {
  const Json json = parse_json_file(index);
  const Json* map = json.find("weight_map");
  if (map == nullptr || map->members.empty()) throw EngineError(index + ": no weight_map");
  std::map<std::string, int> shards;  // file, number of tensors the index puts there
  for (const auto& [name, shard] : map->members) {
    if (shard.string.empty() || shard.string.find('/') != std::string::npos)
      throw EngineError(index + ": tensor " + name + ": not a file name: " + shard.string);
    ++shards[shard.string];
  }
  for (const auto& [shard, expected] : shards) {
    const size_t before = checkpoint.ledger().size();
    add_file(checkpoint, folder + "/" + shard);
    for (const auto& [name, in] : map->members)
      if (in.string == shard && !checkpoint.has(name)) throw EngineError(folder + "/" + shard + ": lacks tensor " + name + " that the index puts there");
    if (checkpoint.ledger().size() - before != static_cast<size_t>(expected))
      throw EngineError(folder + "/" + shard + ": holds a tensor that the index doesn't put there");
  }
}

// Recomputed from the config; old checkpoints carry it along.
bool is_buffer(const std::string& name) { return name.ends_with(".rotary_emb.inv_freq"); }

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

float half_to_f32(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  // Shifted into place the exponent is 112 too small; scaling by 2^112 also normalises subnormals.
  uint32_t bits = magnitude << 13;
  float value;
  std::memcpy(&value, &bits, 4);
  value *= 0x1p112f;
  if (magnitude >= 0x7c00) {
    bits |= 0x7f800000;
    std::memcpy(&value, &bits, 4);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

}  // namespace

void Checkpoint::add(Tensor tensor, std::shared_ptr<const void> owner) {
  const std::string name = tensor.name;
  if (!tensors_.emplace(name, std::move(tensor)).second) throw EngineError("tensor " + name + " is there twice");
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
    if (is_buffer(name)) tensor.reads = 1;
    if (tensor.reads == 0) unread += (unread.empty() ? "" : ", ") + name;
  }
  if (!unread.empty()) throw EngineError("tensors that this model doesn't have: " + unread);
}

Checkpoint open_checkpoint(const std::string& folder) {
  Checkpoint checkpoint;
  const std::string index = folder + "/model.safetensors.index.json";
  if (std::filesystem::exists(index)) {
    add_shards(checkpoint, folder, index);
  } else {
    add_file(checkpoint, folder + "/model.safetensors");
  }
  return checkpoint;
}

const char* dtype_name(DType dtype) { return dtype == DType::f32 ? "F32" : dtype == DType::bf16 ? "BF16" : "F16"; }

int64_t element_bytes(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

void to_f32(const Tensor& tensor, int64_t first, int64_t count, float* out) {
  const char* from = static_cast<const char*>(tensor.data) + first * element_bytes(tensor.dtype);
  if (tensor.dtype == DType::f32) {
    std::memcpy(out, from, static_cast<size_t>(count) * 4);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, from + 2 * i, 2);
    const uint32_t bits = uint32_t{half} << 16;
    if (tensor.dtype == DType::bf16) {
      std::memcpy(out + i, &bits, 4);
    } else {
      out[i] = half_to_f32(half);
    }
  }
}

std::vector<float> take_vector(Checkpoint& checkpoint, const std::string& name, int64_t size) {
  std::vector<float> values(static_cast<size_t>(size));
  to_f32(checkpoint.take(name, {size}), 0, size, values.data());
  return values;
}
