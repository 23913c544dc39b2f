#include "securec.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace fia::aclnn {
namespace {

bool SaneSize(size_t size, size_t limit) { return size > 0 && size <= limit; }

bool Overlap(const void* a, size_t a_size, const void* b, size_t b_size) {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a);
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b);
  return a_begin < b_begin ? b_begin - a_begin < a_size : a_begin - b_begin < b_size;
}

// What memcpy_s and memmove_s check alike; EOK: `count` bytes may be moved.
errno_t CheckMove(void* dest, size_t destMax, const void* src, size_t count) {
  if (!SaneSize(destMax, SECUREC_MEM_MAX_LEN)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  if (src != nullptr && count <= destMax) return EOK;
  std::memset(dest, 0, destMax);
  return src == nullptr ? EINVAL_AND_RESET : ERANGE_AND_RESET;
}

errno_t Reset(char* dest, errno_t code) {
  dest[0] = '\0';
  return code;
}

// Appends the first `length` of the `readable` characters that src has to the `used` ones in dest, and an
// end.
errno_t PutString(char* dest, size_t destMax, size_t used, const char* src, size_t length, size_t readable) {
  if (length >= destMax - used) return Reset(dest, ERANGE_AND_RESET);
  if (Overlap(dest, used + length + 1, src, readable)) return Reset(dest, EOVERLAP_AND_RESET);
  std::memcpy(dest + used, src, length);
  dest[used + length] = '\0';
  return EOK;
}

errno_t CheckStrings(char* dest, size_t destMax, const char* src) {
  if (!SaneSize(destMax, SECUREC_STRING_MAX_LEN)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  return src == nullptr ? Reset(dest, EINVAL_AND_RESET) : EOK;
}

}  // namespace
}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count) {
  const errno_t code = CheckMove(dest, destMax, src, count);
  if (code != EOK || dest == src) return code;
  if (Overlap(dest, count, src, count)) {
    std::memset(dest, 0, destMax);
    return EOVERLAP_AND_RESET;
  }
  std::memcpy(dest, src, count);
  return EOK;
}

errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count) {
  const errno_t code = CheckMove(dest, destMax, src, count);
  if (code == EOK) std::memmove(dest, src, count);
  return code;
}

errno_t memset_s(void* dest, size_t destMax, int c, size_t count) {
  if (!SaneSize(destMax, SECUREC_MEM_MAX_LEN)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  std::memset(dest, c, count <= destMax ? count : destMax);
  return count <= destMax ? EOK : ERANGE_AND_RESET;
}

errno_t strcpy_s(char* dest, size_t destMax, const char* src) {
  const errno_t code = CheckStrings(dest, destMax, src);
  if (code != EOK) return code;
  const size_t length = strnlen(src, destMax);
  if (dest == src && length < destMax) return EOK;
  return PutString(dest, destMax, 0, src, length, length + 1);
}

errno_t strncpy_s(char* dest, size_t destMax, const char* src, size_t count) {
  const errno_t code = CheckStrings(dest, destMax, src);
  if (code != EOK) return code;
  const size_t length = strnlen(src, count < destMax ? count : destMax);
  if (dest == src && length < destMax) {
    dest[length] = '\0';
    return EOK;
  }
  return PutString(dest, destMax, 0, src, length, length < count ? length + 1 : count);
}

errno_t strcat_s(char* dest, size_t destMax, const char* src) {
  const errno_t code = CheckStrings(dest, destMax, src);
  if (code != EOK) return code;
  const size_t used = strnlen(dest, destMax);
  if (used == destMax) return Reset(dest, EINVAL_AND_RESET);
  const size_t length = strnlen(src, destMax);
  return PutString(dest, destMax, used, src, length, length + 1);
}

int vsnprintf_s(char* dest, size_t destMax, size_t count, const char* format, va_list arguments) {
  if (dest == nullptr || !SaneSize(destMax, SECUREC_STRING_MAX_LEN)) return -1;
  dest[0] = '\0';
  if (format == nullptr) return -1;
  const size_t room = count < destMax ? count + 1 : destMax;
  const int length = std::vsnprintf(dest, room, format, arguments);
  if (length >= 0 && static_cast<size_t>(length) < room) return length;
  if (length < 0 || count >= destMax) dest[0] = '\0';
  return -1;
}

int vsprintf_s(char* dest, size_t destMax, const char* format, va_list arguments) {
  return vsnprintf_s(dest, destMax, destMax, format, arguments);
}

int snprintf_s(char* dest, size_t destMax, size_t count, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_s(dest, destMax, count, format, arguments);
  va_end(arguments);
  return length;
}

int sprintf_s(char* dest, size_t destMax, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsprintf_s(dest, destMax, format, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
