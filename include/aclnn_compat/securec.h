// Copies and prints that know how large their destination is. C99 and C++11.
//
// All return 0 (the printing ones the number of characters) on success. On failure nothing is written past
// `destMax` bytes, and a destination of a sane size is cleared: memory functions fill it with zeros
// (memset_s: with the byte asked for), string functions make it empty.
#ifndef FIA_SECUREC_H_
#define FIA_SECUREC_H_

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef errno_t
typedef int errno_t;
#endif

#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL
#define EINVAL 22
#endif
#ifndef ERANGE
#define ERANGE 34
#endif
#define EINVAL_AND_RESET 150    // a null source or, for strcat_s, a destination without an end
#define ERANGE_AND_RESET 162    // the destination is too small
#define EOVERLAP_AND_RESET 182  // source and destination overlap

#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#define SECUREC_STRING_MAX_LEN 0x7fffffffUL

#define SECUREC_API __attribute__((visibility("default")))
#define SECUREC_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))

// EINVAL: null destination; ERANGE: destMax 0 or above SECUREC_MEM_MAX_LEN.
SECUREC_API errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count);
SECUREC_API errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count);
SECUREC_API errno_t memset_s(void* dest, size_t destMax, int c, size_t count);

SECUREC_API errno_t strcpy_s(char* dest, size_t destMax, const char* src);
SECUREC_API errno_t strncpy_s(char* dest, size_t destMax, const char* src, size_t count);
SECUREC_API errno_t strcat_s(char* dest, size_t destMax, const char* src);

// -1 when an argument is invalid or the text does not fit. snprintf_s writes at most `count` characters: what
// is cut off by `count` is kept, with -1.
SECUREC_API int sprintf_s(char* dest, size_t destMax, const char* format, ...) SECUREC_PRINTF(3, 4);
SECUREC_API int vsprintf_s(char* dest, size_t destMax, const char* format, va_list arguments)
    SECUREC_PRINTF(3, 0);
SECUREC_API int snprintf_s(char* dest, size_t destMax, size_t count, const char* format, ...)
    SECUREC_PRINTF(4, 5);
SECUREC_API int vsnprintf_s(char* dest, size_t destMax, size_t count, const char* format, va_list arguments)
    SECUREC_PRINTF(4, 0);

#ifdef __cplusplus
}
#endif

#endif  // FIA_SECUREC_H_
