// Fused attention inference on a CPU, in two phases over the caller's memory.
//
//   fia::Executor executor;
//   uint64_t size = 0;
//   fia::Status status = fia::GetWorkspaceSize(params, &size, &executor);   // checks and plans; reads no
//   tensor data if (status.ok()) status = fia::Execute(workspace, size, executor);      // computes
//
// What is computed, for sequence b, query head n (kv head n / G, G = num_heads / num_kv_heads), query
// position i:
//   s_j = (q_i . k_j + q_rope_i . k_rope_j) * float(scale) + pse_shift[b][n][i][j]  for every key j that is
//   attended m   = max_j s_j        p_j = exp(s_j - m)        l = sum_j p_j        (a learnable sink joins m
//   and l, not the sum below) out = (sum_j p_j v_j) / l                        lse = m + ln l
// A row that attends no key gives out 0 and lse +inf. The mathematics is that of softmax attention (Vaswani
// et al. 2017), evaluated tile by tile with a running maximum (Milakov and Gimelshein 2018; Dao et al. 2022).
//
// Precision and determinism: README, "The contract". The same call gives the same bits, whatever the number
// of threads, the layout, the storage of the cache and the other sequences of the batch.
#ifndef FIA_ATTENTION_H_
#define FIA_ATTENTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fia/runtime.h"
#include "fia/status.h"
#include "fia/tensor.h"

namespace fia {

// How strictly phase one checks. kStrict refuses what the accelerator refuses; kRelaxed lifts its hardware
// limits (and allows float32). Results do not depend on it.
enum class Check : std::int32_t { kStrict, kRelaxed };

// Axes: B sequences, S positions, N heads, Nk kv heads, D head dim of query and key, Dv of value, T tokens of
// all sequences in a packed layout, H = heads * dim.
//
// layout       query                key, value            attention_out       softmax_lse
// BSH          (B,S,N*D)            (B,Skv,Nk*D)          (B,S,N*Dv)          (B,N,S,1)
// BSND         (B,S,N,D)            (B,Skv,Nk,D)          (B,S,N,Dv)          (B,N,S,1)
// BNSD         (B,N,S,D)            (B,Nk,Skv,D)          (B,N,S,Dv)          (B,N,S,1)
// TND          (T,N,D)              (Tkv,Nk,D)            (T,N,Dv)            (T,N,1)
// NTD          (N,T,D)              (Nk,Tkv,D)            (N,T,Dv)            (T,N,1)
// X_Y          X's                  X's                   Y's; NBSD: (N,B,S,Dv)
//   with X_Y one of BSH_BNSD BSND_BNSD BNSD_BSND BSH_NBSD BSND_NBSD BNSD_NBSD NTD_TND TND_NTD
struct Heads {
  std::string layout = {};        // one of the thirteen names
  std::int64_t num_heads = 0;     // N
  std::int64_t num_kv_heads = 0;  // Nk; 0 means N; divides N
};

// How scores are made.
struct Scores {
  double scale = 1.0;              // any finite value; used as float; nothing is derived from D
  std::int64_t inner_precise = 0;  // 0..3; 1 and 3 allow the weights p to be narrowed to the query's type
  // (B or 1, N, >= S, >= Skv) of the query's dtype (float16 for int8), added to scaled scores
  TensorView pse_shift = {};
  TensorView learnable_sink = {};  // (N), the query's dtype: a score without a value
};

// Valid lengths, copied in phase one. Padded layouts: none (the whole axis), one for all, or one for each
// sequence. Packed layouts: the cumulative end of each sequence; required.
struct SequenceLengths {
  std::vector<std::int64_t> query = {};      // actualSeqLengths
  std::vector<std::int64_t> key_value = {};  // actualSeqLengthsKv, not counting a shared prefix
};

// Which keys a query position attends. A non-zero mask element masks its key.
//   mode 0: mask (if given), and i - pre_tokens <= j <= i + next_tokens (looked at with a mask only)
//   mode 1: mask      mode 2: j <= i      mode 3: j <= i + S2 - S1
//   mode 4: i + S2 - S1 - pre_tokens <= j <= i + S2 - S1 + next_tokens
// Modes 2 to 4 take a 2048 x 2048 mask tensor whose contents are not read.
struct Mask {
  TensorView tensor = {};  // bool, int8 or uint8
  std::int64_t sparse_mode = 0;
  std::int64_t pre_tokens = 2147483647;
  std::int64_t next_tokens = 2147483647;
};

// Key and value live in blocks: token j of sequence b in block table[b][j / block_size] at j % block_size.
// Cache shapes: (blocks, block_size, Nk*D), (blocks, Nk, block_size, D) or (blocks, Nk, D/D0, block_size,
// D0), D0 = 32 bytes.
struct PagedCache {
  TensorView block_table = {};  // int32 (B, W); used entries are checked in phase two, others never read
  std::int64_t block_size = 0;  // tokens in a block
};

// Keys and values that every sequence attends before its own, batch-1 form of the layout.
struct SharedPrefix {
  TensorView key = {};
  TensorView value = {};
  std::vector<std::int64_t> length = {};  // none: the whole axis; one entry: that many tokens
};

// Sequences that end at (axis length - size) instead of starting at 0. int64, one element, read in phase two.
struct LeftPadding {
  TensorView query_size = {};
  TensorView kv_size = {};
};

// The rotary part of queries and keys, 64 elements a head, shaped as query and key with D replaced by 64.
struct Rope {
  TensorView query = {};
  TensorView key = {};
};

// Scales of an int8 or int4 cache: k = (stored + offset) * scale. Modes: 0 per tensor or channel, 1 per
// token, 2 per head, 3 per token and head, 4 and 5 as 1 and 3 but paged with the cache.
struct KvAntiquant {
  TensorView key_scale = {};
  TensorView key_offset = {};
  TensorView value_scale = {};
  TensorView value_offset = {};
  std::int64_t key_mode = 0;
  std::int64_t value_mode = 0;
  // Combined: axis 0 holds key, value; not looked at when key_scale and value_scale are given.
  TensorView scale = {};
  TensorView offset = {};  // combined
  std::int64_t mode = 0;
};

// int8 query, key and value: s = (q8 . k8) * deq_scale1; p8 = round(p * quant_scale1); out = (p8 . v8) *
// deq_scale2 / l.
struct Int8Flow {
  TensorView deq_scale1 = {};    // (1) float32, or uint64 whose low half is a float32
  TensorView quant_scale1 = {};  // (1) float32
  TensorView deq_scale2 = {};    // (1) as deq_scale1
};

// int8 output: round(out * scale + offset), saturated; one element, or one for each (head, d).
struct Int8Output {
  TensorView scale = {};   // quantScale2: float32 or bfloat16
  TensorView offset = {};  // quantOffset2: dtype and shape of scale
};

// int8 multi-head latent attention: query int8 with one scale for each row and head.
struct Int8Mla {
  TensorView query_scale = {};  // dequantScaleQuery: float32, the query's shape without D
  std::int64_t query_mode = 0;  // queryQuantMode: 3
};

// Quantised inputs and output; each group absent when the call does not use it.
struct Quantisation {
  std::optional<KvAntiquant> kv_antiquant = {};
  std::optional<Int8Flow> int8_flow = {};
  std::optional<Int8Output> int8_output = {};
  std::optional<Int8Mla> int8_mla = {};
};

// How the call is checked and run.
struct Execution {
  Check check = Check::kStrict;
  int num_threads = 0;                           // at most this many; 0: fia::NumThreads()
  std::optional<ParallelFor> parallel_for = {};  // in place of the library's pool
};

// One attention call. Views are non-owning; GetWorkspaceSize copies what it needs of this struct.
struct AttentionParams {
  TensorView query = {};
  std::vector<TensorView> key = {};    // one tensor, or one (1,...) tensor for each sequence
  std::vector<TensorView> value = {};  // as key
  TensorView attention_out = {};
  std::optional<TensorView> softmax_lse = {};  // float32; nullopt: not asked for
  Heads heads;
  Scores scores;
  std::optional<SequenceLengths> lengths = {};
  std::optional<Mask> mask = {};
  std::optional<PagedCache> paged = {};
  std::optional<SharedPrefix> prefix = {};
  std::optional<LeftPadding> padding = {};
  std::optional<Rope> rope = {};
  std::optional<Quantisation> quantisation = {};
  Execution execution;
};

// The tensors of a call, numbered as the inputs of the operator's C interface (arrays count too), then the
// outputs.
enum class Argument : std::int32_t {
  kQuery = 0,
  kKey = 1,
  kValue = 2,
  kPseShift = 3,
  kAttenMask = 4,
  kActualSeqLengths = 5,
  kActualSeqLengthsKv = 6,
  kDeqScale1 = 7,
  kQuantScale1 = 8,
  kDeqScale2 = 9,
  kQuantScale2 = 10,
  kQuantOffset2 = 11,
  kAntiquantScale = 12,
  kAntiquantOffset = 13,
  kBlockTable = 14,
  kQueryPaddingSize = 15,
  kKvPaddingSize = 16,
  kKeyAntiquantScale = 17,
  kKeyAntiquantOffset = 18,
  kValueAntiquantScale = 19,
  kValueAntiquantOffset = 20,
  kKeySharedPrefix = 21,
  kValueSharedPrefix = 22,
  kActualSharedPrefixLen = 23,
  kQueryRope = 24,
  kKeyRope = 25,
  kKeyRopeAntiquantScale = 26,
  kDequantScaleQuery = 27,
  kLearnableSink = 28,
  kAttentionOut = 29,
  kSoftmaxLse = 30,
};

struct Plan;  // internal

// A planned call: immutable plan, and the addresses it will read and write. A value: movable and copyable
// (copies share the plan and have their own addresses). Reusable any number of times. Different threads may
// execute the same executor at the same time if each passes its own workspace and their outputs do not
// overlap (use copies with other addresses); SetAddress needs exclusive access.
class Executor {
 public:
  Executor() noexcept = default;

  // True after a successful GetWorkspaceSize.
  bool valid() const noexcept { return plan_ != nullptr; }

  // Points the executor at other data of the same shape: argument (key and value: the list's member, else 0)
  // and the new address of the element with all indices zero. kRuntimeError (rule "executor") when this call
  // has no such tensor.
  Status SetAddress(Argument argument, std::int64_t member, void* address) noexcept;

  const Plan* plan() const noexcept { return plan_.get(); }
  void* const* addresses() const noexcept { return addresses_.data(); }

 private:
  friend Status GetWorkspaceSize(const AttentionParams&, std::uint64_t*, Executor*) noexcept;
  void TakeAddresses(const AttentionParams& params);
  bool Has(Argument argument, std::int64_t member) const noexcept;

  std::shared_ptr<const Plan> plan_;
  std::vector<void*> addresses_;
  std::uint32_t given_ = 0;       // bit a: the call has the tensor of argument a
  std::int64_t key_members_ = 0;  // tensors in the key list
  std::int64_t value_members_ = 0;
};

// Phase one: checks `params`, plans the call and says how many bytes of workspace phase two needs.
// Reads dims, strides, dtypes and host arrays, no tensor data; everything in `params` may be destroyed
// afterwards (not the tensors' memory). On success *workspace_size and *executor are set; on failure they are
// 0 and an invalid executor. Thread safe. Errors: kNullPointer (query, key, value, attention_out or a result
// pointer missing), kInvalidParameter (dtype or format that no call accepts), kTilingError (any other rule;
// out of memory is rule "memory"). The message names parameter and rule.
Status GetWorkspaceSize(const AttentionParams& params, std::uint64_t* workspace_size,
                        Executor* executor) noexcept;

// Phase two: computes attention_out (and softmax_lse). `workspace` holds at least the bytes that phase one
// asked for, at any alignment (null is fine when it asked for 0), is owned by the caller and used by this
// call alone until it returns. Synchronous; allocates nothing on the heap. Thread safe as Executor says.
// Errors: kRuntimeError with rule "executor" (invalid), "workspace" (null or too small), "address" (null
// address of a tensor that is read or written), "block_id" (a used block table entry out of range); after an
// error no output byte has changed.
Status Execute(void* workspace, std::uint64_t workspace_size, const Executor& executor) noexcept;

// What was planned, for people: instruction set, kernel body and tiles of the sequences, splits of the keys,
// threads, and the workspace by piece. A few lines, each ended by a newline; the wording may change. Says so
// of an invalid executor; empty when there is no memory for the text. Thread safe as reading Executor is.
std::string Explain(const Executor& executor) noexcept;

}  // namespace fia

#endif  // FIA_ATTENTION_H_
