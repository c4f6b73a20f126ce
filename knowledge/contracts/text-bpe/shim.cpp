// SPDX-License-Identifier: MIT
#include "text_bpe.h"

#include "shim.h"

void run_case(ShimCase& c) {
  const Bpe bpe = read_bpe(parse_json(c.strings.at("tokenizer"), "tokenizer.json"));
  std::vector<int32_t> ids;
  if (c.op == "append_merged") append_merged(bpe, c.in.at("symbols").i, ids);
  if (c.op == "read_template") {
    ids = bpe.before;
    ids.push_back(-1);
    ids.insert(ids.end(), bpe.after.begin(), bpe.after.end());
  }
  if (c.op != "split_added") {
    c.out["ids"] = shim_i32({static_cast<int64_t>(ids.size())});
    c.out["ids"].i = ids;
    return;
  }
  const std::string text(c.in.at("text").u.begin(), c.in.at("text").u.end());
  const std::vector<Section> sections = split_added(bpe, bpe.raw, text, c.numbers.at("parse_special") != 0);
  c.out["sections"] = shim_i32({static_cast<int64_t>(sections.size()), 2});
  for (size_t i = 0; i < sections.size(); ++i) {
    c.out["sections"].i[2 * i] = static_cast<int32_t>(sections[i].text.size());
    c.out["sections"].i[2 * i + 1] = sections[i].id;
  }
}
