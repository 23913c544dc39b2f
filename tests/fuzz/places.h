// Where AttentionParams keep each tensor, for writing.
#ifndef FIA_TESTS_FUZZ_PLACES_H_
#define FIA_TESTS_FUZZ_PLACES_H_

#include <vector>

#include "fia/attention.h"

namespace fia::testing {

// The view of a single-tensor argument; its group is made when needed. Null for key, value and arguments that
// the native interface does not have as a tensor.
TensorView* PlaceOf(Argument argument, AttentionParams* params);

// Every view that `params` holds, members of lists included, in argument order.
std::vector<TensorView*> PresentViews(AttentionParams* params);

// Groups, made on first use.
Mask& MaskOf(AttentionParams* params);
SequenceLengths& LengthsOf(AttentionParams* params);
PagedCache& PagedOf(AttentionParams* params);
SharedPrefix& PrefixOf(AttentionParams* params);
KvAntiquant& AntiquantOf(AttentionParams* params);
Int8Mla& MlaOf(AttentionParams* params);

}  // namespace fia::testing

#endif  // FIA_TESTS_FUZZ_PLACES_H_
