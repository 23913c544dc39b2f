// exp on packets, for the differences s - max(s) of a softmax.
#ifndef FIA_KERNELS_EXP_H_
#define FIA_KERNELS_EXP_H_

#include "kernels/packet.h"

namespace fia::FIA_ISA_NAMESPACE {

// exp(x) for x <= 0, as 2^(x log2 e). Exactly 1 at 0; 0 below about -87.7, -inf included; NaN stays NaN.
// 2^f on [-1/2, 1/2] is the polynomial of degree 6 with the least relative error, 2^-27.9, among those that
// are exactly 1 at 0.
FIA_INLINE Packet Exp(Packet x) {
  const Packet magic =
      Broadcast(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer, kept in the low bits
  // Clamping at -127 makes the exponent field below 0, and with it the result. pmax keeps a NaN that comes
  // first.
  const Packet t = packets::pmax(packets::pmul(x, Broadcast(1.44269504089f)), Broadcast(-127.0f));
  const Packet shifted = packets::padd(t, magic);
  const Packet f = packets::psub(t, packets::psub(shifted, magic));
  Packet power = Broadcast(0.00015469732f);
  power = MultiplyAdd(power, f, Broadcast(0.0013410001f));
  power = MultiplyAdd(power, f, Broadcast(0.00961803078f));
  power = MultiplyAdd(power, f, Broadcast(0.0555029731f));
  power = MultiplyAdd(power, f, Broadcast(0.240226511f));
  power = MultiplyAdd(power, f, Broadcast(0.693147225f));
  power = MultiplyAdd(power, f, Broadcast(1.0f));
  const IntPacket exponent =
      packets::padd(packets::preinterpret<IntPacket>(shifted), packets::pset1<IntPacket>(127));
  return packets::pmul(power, packets::preinterpret<Packet>(packets::plogical_shift_left<23>(exponent)));
}

FIA_INLINE float Exp(float x) { return First(Exp(Broadcast(x))); }

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_EXP_H_
