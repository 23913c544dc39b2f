// Eigen's packets under the names that the kernels use. Everything here and in the files that include it
// lives in the namespace of one instruction set: the same sources are compiled once for each.
#ifndef FIA_KERNELS_PACKET_H_
#define FIA_KERNELS_PACKET_H_

#include <Eigen/Core>
#include <cstdint>

// Inline functions must never be emitted on their own: a copy built for one instruction set could serve
// another.
#define FIA_INLINE inline __attribute__((always_inline))

// Packets carry alignment attributes that mean nothing to a template argument.
#pragma GCC diagnostic ignored "-Wignored-attributes"
#if !defined(__clang__)
// gcc 12 warns of undefined registers in its own intrinsics, where they are meant.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace fia::FIA_ISA_NAMESPACE {

namespace packets = Eigen::internal;

using Packet = packets::packet_traits<float>::type;
using IntPacket = packets::unpacket_traits<Packet>::integer_packet;
constexpr int kWidth = packets::unpacket_traits<Packet>::size;  // floats of a packet: 4, 8 or 16
static_assert(packets::unpacket_traits<IntPacket>::size == kWidth);

// Rows of scratch and of accumulators are padded to this many floats, a multiple of every width.
constexpr std::int64_t kPad = 16;

FIA_INLINE std::int64_t Padded(std::int64_t count, std::int64_t unit = kPad) {
  return (count + unit - 1) / unit * unit;
}
FIA_INLINE std::int64_t Smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
FIA_INLINE std::int64_t Larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

FIA_INLINE Packet Broadcast(float value) { return packets::pset1<Packet>(value); }
FIA_INLINE Packet Zero() { return packets::pzero(Packet()); }
FIA_INLINE Packet Load(const float* from) { return packets::ploadu<Packet>(from); }
FIA_INLINE void Store(float* to, Packet value) { packets::pstoreu(to, value); }
// a * b + c; one rounding where the instruction set has it.
FIA_INLINE Packet MultiplyAdd(Packet a, Packet b, Packet c) { return packets::pmadd(a, b, c); }
// mask ? a : b, by lanes; masks are packets of all-ones and all-zero lanes, as comparisons give them.
FIA_INLINE Packet Select(Packet mask, Packet a, Packet b) { return packets::pselect(mask, a, b); }
FIA_INLINE float First(Packet value) { return packets::pfirst(value); }

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_PACKET_H_
