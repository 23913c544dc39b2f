// NEON of aarch64: loads and stores of stored element types, 4 at a time.
#ifndef FIA_KERNELS_SIMD_NEON_H_
#define FIA_KERNELS_SIMD_NEON_H_

#include <arm_neon.h>

#include <cstring>

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

FIA_INLINE uint16x4_t LoadWords(const void* from) {
  return vreinterpret_u16_u8(vld1_u8(static_cast<const std::uint8_t*>(from)));
}

FIA_INLINE void StoreWords(void* to, uint16x4_t words) {
  vst1_u8(static_cast<std::uint8_t*>(to), vreinterpret_u8_u16(words));
}

FIA_INLINE Packet LoadFloat16(const void* from) {
  return vcvt_f32_f16(vreinterpret_f16_u16(LoadWords(from)));
}

FIA_INLINE Packet LoadBfloat16(const void* from) {
  return vreinterpretq_f32_u32(vshll_n_u16(LoadWords(from), 16));
}

FIA_INLINE Packet LoadInt8(const void* from) {
  std::uint32_t four;
  std::memcpy(&four, from, sizeof four);
  const int16x8_t words = vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)));
  return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}

// Every lane gets all four nibbles, shifts its own to the top and back down with its sign.
FIA_INLINE Packet LoadInt4(const void* from) {
  std::uint16_t four;
  std::memcpy(&four, from, sizeof four);
  const std::int32_t shifts[4] = {28, 24, 20, 16};
  const int32x4_t top = vshlq_s32(vdupq_n_s32(four), vld1q_s32(shifts));
  return vcvtq_f32_s32(vshrq_n_s32(top, 28));
}

FIA_INLINE void StoreFloat16(void* to, Packet value) {
  StoreWords(to, vreinterpret_u16_f16(vcvt_f16_f32(value)));
}

FIA_INLINE void StoreBfloat16(void* to, Packet value) {
  const uint32x4_t bits = vreinterpretq_u32_f32(value);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
  const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
  StoreWords(to, vshrn_n_u32(vbslq_u32(vceqq_f32(value, value), rounded, quiet), 16));
}

FIA_INLINE Packet LaneSums(const Packet* packets_of_sums) {
  return vpaddq_f32(vpaddq_f32(packets_of_sums[0], packets_of_sums[1]),
                    vpaddq_f32(packets_of_sums[2], packets_of_sums[3]));
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_SIMD_NEON_H_
