// How the few-rows body asks for memory ahead of its use.
#ifndef FIA_KERNELS_ROW_STREAM_H_
#define FIA_KERNELS_ROW_STREAM_H_

#include "kernels/band.h"
#include "kernels/element.h"

namespace fia::FIA_ISA_NAMESPACE {

// How far ahead of its use a row is asked for, and how far ahead its page: on 4 KiB pages finding the address
// takes as long as the memory itself.
constexpr std::int64_t kPrefetchBytes = 8192;
constexpr std::int64_t kPageAheadBytes = 32768;
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kLineBytes = 64;
// Query rows up to which memory is read strictly in order: the arithmetic is so little that the processor's
// own prefetchers keep up by themselves, and what is asked for besides only disturbs them.
constexpr int kMaxRowsInOrder = 2;

// Rows of one kind that are read one after the other; after the last come those of `next`. While one is read,
// each of its lines asks for the same line of the row `distance` further: requests leave at the pace at which
// memory answers them, never in bursts that would stop the arithmetic.
struct RowStream {
  const void* const* rows = nullptr;
  KeyRange range = {0, 0};
  const void* const* next = nullptr;  // null: nothing follows
  KeyRange next_range = {0, 0};
  std::int64_t distance = 0;       // in rows; 0: nothing is asked for
  std::int64_t page_distance = 0;  // in rows, at which every page_rows-th row asks for one line
  std::int64_t page_rows = 1;      // a power of two
  std::int64_t row_bytes = 0;
};

FIA_INLINE RowStream StreamOf(const void* const* rows, KeyRange range, std::int64_t row_bytes) {
  RowStream stream;
  stream.rows = rows;
  stream.range = range;
  stream.row_bytes = row_bytes;
  stream.distance = kPrefetchBytes / (row_bytes + 1) + 1;
  stream.page_distance = kPageAheadBytes / (row_bytes + 1) + 1;
  while (stream.page_rows * row_bytes * 2 <= kPageBytes) stream.page_rows *= 2;
  return stream;
}

// Row `key` of what is read, counted on into `next`; `otherwise` behind its end.
FIA_INLINE const void* RowAt(const RowStream& stream, std::int64_t key, const void* otherwise) {
  if (key < stream.range.end) return stream.rows[key];
  const std::int64_t next = key - stream.range.end + stream.next_range.begin;
  return stream.next != nullptr && next < stream.next_range.end ? stream.next[next] : otherwise;
}

// The rows to ask for while rows key .. key + count - 1 are read, themselves where nothing is to be asked
// for: with `in_order`, where memory goes on without a gap. `room` is for `count` of them.
FIA_INLINE const void* const* RowsAhead(const RowStream& stream, bool in_order, std::int64_t key,
                                        std::int64_t count, const void** room) {
  const std::int64_t ahead = key + stream.distance;
  if (ahead + count <= stream.range.end) {
    const auto last = reinterpret_cast<std::uintptr_t>(stream.rows[ahead + count - 1]);
    const auto first = reinterpret_cast<std::uintptr_t>(stream.rows[key]);
    const bool goes_on =
        last - first == static_cast<std::uintptr_t>((stream.distance + count - 1) * stream.row_bytes);
    if (!(in_order && goes_on)) return stream.rows + ahead;
    if (key + count <= stream.range.end) return stream.rows + key;
  }
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
    Prefetch(RowAt(stream, row + stream.page_distance, stream.rows[key]));
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
  Prefetch(static_cast<const unsigned char*>(row) + dim * Element::kBits / 8);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_ROW_STREAM_H_
