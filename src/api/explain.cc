// A plan in words.
#include <initializer_list>
#include <string>

#include "core/plan.h"
#include "fia/attention.h"

namespace fia {
namespace {

constexpr const char* kBodyNames[kBodyCount] = {"few rows", "many rows", "many rows, q . k in bfloat16 pairs",
                                                "many rows, both products in bfloat16 pairs"};
constexpr const char* kFlowNames[] = {"float", "kv antiquant", "int8", "int8 MLA"};

struct Entry {
  const char* name;
  std::int64_t number;
};

// "title: name number, name number, ..."
void AppendLine(const std::string& title, std::initializer_list<Entry> entries, std::string* text) {
  const char* separator = ": ";
  *text += title;
  for (const Entry& entry : entries) {
    *text += separator;
    *text += entry.name;
    *text += ' ' + std::to_string(entry.number);
    separator = ", ";
  }
  *text += '\n';
}

void AppendCall(const Plan& plan, std::string* text) {
  const Problem& problem = plan.problem;
  *text += std::string("kernels: ") + plan.kernels->isa + '\n';
  *text += std::string("arithmetic: ") + kFlowNames[static_cast<int>(problem.flow)] +
           (problem.narrow ? ", weights may be narrowed\n" : ", float32 weights\n");
  AppendLine("heads",
             {{"query", problem.num_heads},
              {"kv", problem.num_kv_heads},
              {"dim", problem.head_dim},
              {"value dim", problem.value_dim},
              {"rope dim", problem.rope_dim}},
             text);
}

// The sequences that one body serves.
void AppendBody(const Plan& plan, Body body, std::string* text) {
  std::int64_t sequences = 0, row_tiles = 0, splits = 0, keys = 0;
  for (const SequenceWork& work : plan.works) {
    if (work.body != body) continue;
    const std::int64_t key_count = plan.problem.sequences[static_cast<std::size_t>(work.sequence)].key_count;
    ++sequences;
    row_tiles += work.row_tiles * plan.problem.num_kv_heads;
    splits = work.splits > splits ? work.splits : splits;
    keys = key_count > keys ? key_count : keys;
  }
  if (sequences == 0) return;
  const Tiling& tiling = plan.tilings[static_cast<int>(body)];
  AppendLine(kBodyNames[static_cast<int>(body)],
             {{"sequences", sequences},
              {"most keys", keys},
              {"row tiles", row_tiles},
              {"rows of a tile", tiling.shape.rows},
              {"keys of a tile", tiling.shape.keys},
              {"keys of a chunk", tiling.chunk_keys},
              {"most splits", splits}},
             text);
}

}  // namespace

std::string Explain(const Executor& executor) noexcept {
  try {
    if (!executor.valid()) return "no plan: the executor is not valid\n";
    const Plan& plan = *executor.plan();
    std::string text;
    if (plan.problem.fill_only) text += "nothing to compute: the outputs are filled\n";
    if (!plan.problem.fill_only) AppendCall(plan, &text);
    for (const Body body : kBodies) AppendBody(plan, body, &text);
    AppendLine("items",
               {{"compute", plan.item_count}, {"merge", plan.merge_count}, {"fill", plan.fill_count}}, &text);
    AppendLine("threads", {{"at most", plan.workers}}, &text);
    AppendLine("workspace bytes",
               {{"total", plan.workspace.total},
                {"partial states", plan.partial_bytes},
                {"each thread", plan.workspace.worker_bytes}},
               &text);
    return text;
  } catch (...) {
    return {};
  }
}

}  // namespace fia
