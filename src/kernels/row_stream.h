// How the few-rows body asks for memory ahead of its use.
#ifndef FIA_KERNELS_ROW_STREAM_H_
#define FIA_KERNELS_ROW_STREAM_H_

#include "kernels/band.h"
#include "kernels/element.h"

namespace fia::FIA_ISA_NAMESPACE {

// How far ahead of its use a row is asked for, and how far ahead its page: on 4 KiB pages finding the address
// takes as long as the memory itself.
constexpr std::int64_t kPrefetchBytes = 12288;
constexpr std::int64_t kPageAheadBytes = 65536;
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kLineBytes = 64;

// Rows of one kind that are read one after the other; after the last come those of `next`. While one is read,
// each of its lines asks for the same line of the row `distance` further: requests leave at the pace at which
// memory answers them, never in bursts that would stop the arithmetic.
struct RowStream {
  const void* const* rows = nullptr;
  KeyRange range = {0, 0};
  const void* const* next = nullptr;
  KeyRange next_range = {0, 0};    // empty: nothing is known to follow
  std::int64_t distance = 0;       // in rows; 0: nothing is asked for
  std::int64_t page_distance = 0;  // in rows, at which every page_rows-th row asks for one line
  std::int64_t page_rows = 1;      // a power of two
};

FIA_INLINE RowStream StreamOf(const void* const* rows, KeyRange range, std::int64_t row_bytes) {
  RowStream stream;
  stream.rows = rows;
  stream.range = range;
  stream.distance = kPrefetchBytes / (row_bytes + 1) + 1;
  // Not beyond what follows, which is as long.
  stream.page_distance =
      Larger(stream.distance, Smaller(kPageAheadBytes / (row_bytes + 1) + 1, range.end - range.begin));
  while (stream.page_rows * row_bytes * 2 <= kPageBytes) stream.page_rows *= 2;
  return stream;
}

// Row `key` of what is read, counted on into `next`; `otherwise` behind its end.
FIA_INLINE const void* RowAt(const RowStream& stream, std::int64_t key, const void* otherwise) {
  if (key < stream.range.end) return stream.rows[key];
  const std::int64_t next = key - stream.range.end + stream.next_range.begin;
  return next < stream.next_range.end ? stream.next[next] : otherwise;
}

// The rows to ask for while rows key .. key + count - 1 are read, themselves where nothing is to be asked
// for. `room` is for `count` of them.
FIA_INLINE const void* const* RowsAhead(const RowStream& stream, std::int64_t key, std::int64_t count,
                                        const void** room) {
  const std::int64_t ahead = key + stream.distance;
  if (ahead + count <= stream.range.end) return stream.rows + ahead;
  for (std::int64_t i = 0; i < count; ++i) {
    room[i] = RowAt(stream, ahead + i, stream.rows[Smaller(key + i, stream.range.end - 1)]);
  }
  return room;
}

// One line of each page that is read `page_distance` rows after rows key .. key + count - 1.
FIA_INLINE void PrefetchPages(const RowStream& stream, std::int64_t key, std::int64_t count) {
  if (stream.distance == 0) return;
  const std::int64_t first = (key + stream.page_rows - 1) & -stream.page_rows;
  for (std::int64_t row = first; row < key + count; row += stream.page_rows) {
    PrefetchOnce(RowAt(stream, row + stream.page_distance, stream.rows[key]));
  }
}

// Packets of one line of a row: the power of two between 1 and 8.
template <class Element>
constexpr int PacketsOfLine() {
  constexpr int kPackets = static_cast<int>(kLineBytes) * 8 / (kWidth * Element::kBits);
  return kPackets < 8 ? kPackets : 8;
}

// Asks for the line of `row` that holds element `dim`.
template <class Element>
FIA_INLINE void PrefetchElement(const void* row, std::int64_t dim) {
  PrefetchOnce(static_cast<const unsigned char*>(row) + dim * Element::kBits / 8);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_ROW_STREAM_H_
