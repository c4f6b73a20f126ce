// SPDX-License-Identifier: MIT
#include "shim.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "checkpoint_safetensors.h"

// Opens a folder whose model.safetensors holds the given bytes; values: all tensors in order of their names.
void run_case(ShimCase& c) {
  char folder[] = "/tmp/checkpoint-XXXXXX";
  if (mkdtemp(folder) == nullptr) throw EngineError("cannot make a folder");
  const ShimTensor& bytes = c.in.at("file");
  std::ofstream(std::string(folder) + "/model.safetensors", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.u.data()), static_cast<std::streamsize>(bytes.u.size()));
  ShimTensor error = shim_i32({1});
  std::vector<float> values;
  std::string message;
  try {
    const Checkpoint checkpoint = open_checkpoint(folder);
    for (const auto& [name, tensor] : checkpoint.ledger()) {
      const int64_t count = shim_count(tensor.shape);
      values.resize(values.size() + static_cast<size_t>(count));
      to_f32(tensor, 0, count, values.data() + values.size() - count);
    }
    error.i[0] = 0;
  } catch (const EngineError& refused) {
    values.clear();
    message = refused.what();
    error.i[0] = 1;
  }
  std::filesystem::remove_all(folder);
  ShimTensor out = shim_f32({static_cast<int64_t>(values.size())});
  out.f = values;
  c.out["values"] = out;
  c.out["error"] = error;
  c.out["message"] = shim_u8({message.begin(), message.end()});
}
