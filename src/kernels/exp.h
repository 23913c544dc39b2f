// exp on packets, for the differences s - max(s) of a softmax.
#ifndef FIA_KERNELS_EXP_H_
#define FIA_KERNELS_EXP_H_

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

// x = exp(x) for x <= 0, as 2^(x log2 e). Exactly 1 at 0; 0 below about -87.7, -inf included; NaN stays NaN.
// 2^f on [-1/2, 1/2] is the polynomial of degree 6 with the least relative error, 2^-27.9, among those that
// are exactly 1 at 0. Step by step for all packets: one after the other they would fill the processor's
// queues with instructions that wait.
template <int kCount>
FIA_INLINE void Exp(Packet (&x)[kCount]) {
  constexpr float kCoefficients[] = {0.0013410001f, 0.00961803078f, 0.0555029731f,
                                     0.240226511f,  0.693147225f,   1.0f};
  const Packet log2_e = Broadcast(1.44269504089f);
  const Packet magic = Broadcast(12582912.0f);  // 1.5 * 2^23: rounds to an integer, in the low bits
  Packet shifted[kCount], power[kCount];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    // Clamping at -127 in base 2 makes the exponent field 0, and with it the result. pmax keeps a NaN that
    // comes first.
    x[i] = packets::pmax(x[i], Broadcast(-88.0f));
    shifted[i] = MultiplyAdd(x[i], log2_e, magic);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    x[i] = MultiplyAdd(x[i], log2_e, packets::psub(magic, shifted[i]));
    power[i] = Broadcast(0.00015469732f);
  }
#pragma GCC unroll 6
  for (int step = 0; step < 6; ++step) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) power[i] = MultiplyAdd(power[i], x[i], Broadcast(kCoefficients[step]));
  }
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    const IntPacket exponent =
        packets::padd(packets::preinterpret<IntPacket>(shifted[i]), packets::pset1<IntPacket>(127));
    x[i] = packets::pmul(power[i], packets::preinterpret<Packet>(packets::plogical_shift_left<23>(exponent)));
  }
}

FIA_INLINE float Exp(float x) {
  Packet one[1] = {Broadcast(x)};
  Exp(one);
  return First(one[0]);
}

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_EXP_H_
