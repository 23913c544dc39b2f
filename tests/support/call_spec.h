// A call described by what it means and how it is stored, from which call_builder makes buffers and
// parameters. The contents of every tensor depend on meaning alone (sequence identity, head, position,
// element), so two specs that differ in storage only describe the same numbers.
#ifndef FIA_TESTS_SUPPORT_CALL_SPEC_H_
#define FIA_TESTS_SUPPORT_CALL_SPEC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fia/attention.h"

namespace fia::testing {

enum class KvStorage { kTensor, kList, kPagedBnBsH, kPagedBnNBsD, kPagedNz };

// How a tensor's axes lie in memory.
enum class ViewForm {
  kDense,       // row major
  kGaps,        // row major with gaps after each axis
  kTransposed,  // all axes but the last in reverse order
  kScattered,   // all axes in reverse order: the innermost stride is not 1
  kBroadcast,   // key and value: every sequence is the first (batch stride 0); pseShift: head stride 0
};

enum class LengthsForm { kAbsent, kOne, kEach, kExtra };

// What memory holds where nothing valid lies.
enum class UnusedFill : std::uint8_t { kNan = 0xFF, kZero = 0x00 };

enum class Guard { kNone, kAfter, kBefore };

// Which tensor an element belongs to.
enum class Part {
  kQuery,
  kKey,
  kValue,
  kQueryRope,
  kKeyRope,
  kBias,
  kMask,
  kSink,
  kKeyScale,
  kKeyOffset,
  kValueScale,
  kValueOffset,
  kQueryScale,
  kOutputScale,
  kOutputOffset,
};

// One element by meaning. kBias and kMask: position is the row, dim the column.
struct Site {
  Part part = Part::kQuery;
  std::int64_t sequence = 0;  // identity of the sequence, CallSpec::ids
  std::int64_t head = 0;
  std::int64_t position = 0;
  std::int64_t dim = 0;
};

struct MaskSpec {
  std::int64_t mode = 0;
  bool given = false;         // mode 0 and decode calls: a full mask; modes 1 to 4 always take one
  double density = 0.3;       // share of masked elements of a full mask
  bool batch_shared = false;  // first axis 1; its contents then depend on padded positions
  int rank = 4;               // 2, 3 or 4
  DataType dtype = DataType::kBool;
  std::int64_t row_slack = 0;  // extra rows and columns
  std::int64_t column_slack = 0;
  ViewForm form = ViewForm::kDense;
  std::int64_t pre_tokens = 2147483647;
  std::int64_t next_tokens = 2147483647;
};

struct BiasSpec {
  bool given = false;
  bool batch_shared = false;
  std::int64_t row_slack = 0;
  std::int64_t column_slack = 0;
  double magnitude = 2;
  double infinite_share = 0;  // share of -inf elements
  ViewForm form = ViewForm::kDense;
};

struct PagedSpec {
  std::int64_t block_size = 16;
  std::int64_t table_slack = 0;    // unused table columns
  std::int64_t extra_blocks = 0;   // blocks of the cache that nobody uses
  std::int64_t shared_tokens = 0;  // sequences share the blocks that hold only these leading tokens
  ViewForm table_form = ViewForm::kDense;
};

struct PrefixSpec {
  std::int64_t length = 0;  // L; 0: no prefix unless axis_slack
  std::int64_t axis_slack = 0;
  bool give_length = false;  // needed with axis_slack
};

struct PaddingSpec {
  bool query = false;
  bool kv = false;
  std::int64_t query_size = 0;
  std::int64_t kv_size = 0;
};

enum class QuantFlow { kNone, kAntiquant, kInt8, kInt8Mla };
enum class OutputQuant { kNone, kTensor, kChannel };

// The quantised part of a call. Shapes are numbered by the order in which the interface lists them.
struct QuantSpec {
  QuantFlow flow = QuantFlow::kNone;
  bool combined = false;      // antiquantScale in place of the separate scales
  std::int64_t key_mode = 0;  // combined: antiquantMode is key_mode
  std::int64_t value_mode = 0;
  bool per_channel = false;  // mode 0
  int shape_form = 0;
  bool offsets = false;
  double offset_magnitude = 10;
  std::int64_t scale_slack = 0;  // extra positions of per-token scales
  bool int4_in_int32 = false;
  bool uint64_deq1 = false;  // int8 flow
  bool uint64_deq2 = false;
  OutputQuant output = OutputQuant::kNone;
  bool output_offset = false;
  DataType output_scale_dtype = DataType::kFloat32;
  int output_shape_form = 0;
};

struct CallSpec {
  std::uint64_t seed = 1;
  std::string layout = "BNSD";
  std::int64_t num_heads = 4;
  std::int64_t num_kv_heads = 2;
  bool spell_kv_heads = true;  // false: pass 0 (only when equal to num_heads)
  std::int64_t head_dim = 64;
  std::int64_t value_dim = 64;
  std::int64_t rope_dim = 0;
  DataType dtype = DataType::kFloat16;     // query
  DataType kv_dtype = DataType::kFloat16;  // int4 also when packed in int32
  DataType out_dtype = DataType::kFloat16;

  std::vector<std::int64_t> query_lengths = {1};  // [B] S1
  std::vector<std::int64_t> kv_lengths = {16};    // [B] the sequence's own keys, prefix not counted
  std::vector<std::int64_t> ids;                  // [B] whose numbers; empty: 0, 1, 2, ...
  std::vector<std::int64_t> head_ids;             // [N] likewise; empty: 0, 1, 2, ...
  std::vector<std::int64_t> kv_head_ids;          // [Nk]
  std::int64_t query_slack = 0;                   // axis length beyond the longest sequence
  std::int64_t kv_slack = 0;
  LengthsForm query_form = LengthsForm::kEach;
  LengthsForm kv_form = LengthsForm::kEach;
  std::int64_t common_tokens = 0;  // positions below this hold the same keys and values in every sequence

  KvStorage storage = KvStorage::kTensor;
  ViewForm query_view = ViewForm::kDense;
  ViewForm kv_view = ViewForm::kDense;
  ViewForm out_view = ViewForm::kDense;
  bool value_is_key = false;  // the key tensors are passed as value too
  PagedSpec paged;
  PrefixSpec prefix;
  PaddingSpec padding;

  MaskSpec mask;
  BiasSpec bias;
  bool sink = false;
  bool lse = true;
  double scale = 0.125;
  std::int64_t inner_precise = 0;
  QuantSpec quant;

  double query_magnitude = 2;
  double key_magnitude = 2;
  double value_magnitude = 1;
  std::function<double(const Site&)> content;  // in place of random numbers, null: random

  UnusedFill fill = UnusedFill::kNan;
  Guard guard = Guard::kNone;
  Check check = Check::kRelaxed;
  int threads = 1;

  std::int64_t batch() const { return static_cast<std::int64_t>(query_lengths.size()); }
  bool is_paged() const {
    return storage == KvStorage::kPagedBnBsH || storage == KvStorage::kPagedBnNBsD ||
           storage == KvStorage::kPagedNz;
  }
  std::int64_t id(std::int64_t b) const { return ids.empty() ? b : ids[static_cast<std::size_t>(b)]; }
};

// The spec in one line, for messages.
std::string Summary(const CallSpec& spec);

// The number that `spec` puts at a site: its own content or a random one that depends on seed and site only.
double ContentAt(const CallSpec& spec, const Site& site);

// `spec` with the numbers that `numbers` gives, where it gives one.
CallSpec With(CallSpec spec, std::function<std::optional<double>(const Site&)> numbers);

// `spec` with v[j] = e_j: an output row is then the row of weights (keys beyond value_dim count nowhere).
CallSpec WithOneHotValues(CallSpec spec);

}  // namespace fia::testing

#endif  // FIA_TESTS_SUPPORT_CALL_SPEC_H_
