// Calls made by hand for the tests of describe: parameters, the facts that check would read off them, and the
// definition of where an element lies, spelled with the letters of a layout.
#ifndef FIA_TESTS_DESCRIBE_HAND_CALL_H_
#define FIA_TESTS_DESCRIBE_HAND_CALL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/call.h"
#include "core/problem.h"
#include "fia/attention.h"
#include "support/rng.h"

namespace fia::testing {

// Sizes or indices by the letter of their axis: B sequence, S position, T token of all sequences, N head,
// D element, K block, O position in a block, C and E the D axis cut into chunks.
using Letters = std::map<char, std::int64_t>;

// What a call is about; a packed layout takes its tokens from the lengths.
struct Facts {
  std::string layout = "BSND";
  std::int64_t batch = 3;
  std::int64_t query_axis = 4;
  std::int64_t kv_axis = 5;
  std::int64_t heads = 6;
  std::int64_t kv_heads = 2;
  std::int64_t dim = 8;
  std::int64_t value_dim = 8;
  std::vector<std::int64_t> query_lengths = {2, 0, 4};
  std::vector<std::int64_t> kv_lengths = {5, 3, 0};
};

struct HandCall {
  AttentionParams params;
  Call call;
};

// An unmasked float16 call of contiguous tensors.
HandCall MakeHandCall(const Facts& facts);

// The letters of the layout's query side ("BSND" of "BSND_NBSD") and output side ("NBSD").
std::string InputLetters(const std::string& layout);
std::string OutputLetters(const std::string& layout);

// A contiguous view with one axis for each letter; 'H' is N * D.
TensorView ViewOf(const std::string& letters, const Letters& sizes, DataType dtype);

// Gives every axis an arbitrary stride (even for int4, whose last stride stays 1), about one in five 0.
void Scatter(Rng* rng, TensorView* view);

// Bits from the view's address to an element. `dim` is D of 'H'. int4 elements may come eight in an int32
// (`packed_words`), the last axis then counting words.
std::int64_t BitAt(const TensorView& view, const std::string& letters, const Letters& indices,
                   std::int64_t dim, bool packed_words = false);

// The same from the normal form: row, head and element of a tensor of rows, `offset` bytes on.
std::int64_t BitAt(const RowTensor& rows, std::int64_t offset, std::int64_t row, std::int64_t head,
                   std::int64_t element);

}  // namespace fia::testing

#endif  // FIA_TESTS_DESCRIBE_HAND_CALL_H_
