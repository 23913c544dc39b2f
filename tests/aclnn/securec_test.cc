// Bounded copies and prints: what fits, what does not, and what is left behind.
#include "securec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace fia::testing {
namespace {

// Eight bytes between guards.
struct Buffer {
  char before = '#';
  char data[8] = {'o', 'l', 'd', '\0', '?', '?', '?', '?'};
  char after = '#';

  ~Buffer() { EXPECT_TRUE(before == '#' && after == '#'); }
  std::string all() const { return std::string(data, sizeof data); }
};

const std::string kZeros(8, '\0');

TEST(Memcpy, CopiesWhatFits) {
  Buffer buffer;
  EXPECT_EQ(memcpy_s(buffer.data, 8, "12345678", 8), EOK);
  EXPECT_EQ(buffer.all(), "12345678");
  EXPECT_EQ(memcpy_s(buffer.data, 8, "ab", 0), EOK);
  EXPECT_EQ(memcpy_s(buffer.data, 8, buffer.data, 8), EOK);
  EXPECT_EQ(buffer.all(), "12345678");
  EXPECT_EQ(memcpy_s(buffer.data, 4, buffer.data + 4, 4), EOK);
  EXPECT_EQ(buffer.all(), "56785678");
}

TEST(Memcpy, ClearsTheDestinationWhenItCannot) {
  Buffer small, null_source, overlap;
  EXPECT_EQ(memcpy_s(small.data, 8, "123456789", 9), ERANGE_AND_RESET);
  EXPECT_EQ(small.all(), kZeros);
  EXPECT_EQ(memcpy_s(null_source.data, 8, nullptr, 1), EINVAL_AND_RESET);
  EXPECT_EQ(null_source.all(), kZeros);
  EXPECT_EQ(memcpy_s(overlap.data, 8, overlap.data + 2, 4), EOVERLAP_AND_RESET);
  EXPECT_EQ(overlap.all(), kZeros);
}

TEST(Memcpy, TouchesNothingWithoutASaneDestination) {
  Buffer buffer;
  const std::string old = buffer.all();
  EXPECT_EQ(memcpy_s(nullptr, 8, "1", 1), EINVAL);
  EXPECT_EQ(memcpy_s(buffer.data, 0, "1", 1), ERANGE);
  EXPECT_EQ(memcpy_s(buffer.data, SECUREC_MEM_MAX_LEN + 1, "1", 1), ERANGE);
  EXPECT_EQ(memmove_s(nullptr, 8, "1", 1), EINVAL);
  EXPECT_EQ(memmove_s(buffer.data, 0, "1", 1), ERANGE);
  EXPECT_EQ(memset_s(nullptr, 8, 'x', 1), EINVAL);
  EXPECT_EQ(memset_s(buffer.data, 0, 'x', 1), ERANGE);
  EXPECT_EQ(buffer.all(), old);
}

TEST(Memmove, MayOverlap) {
  Buffer buffer;
  std::memcpy(buffer.data, "12345678", 8);
  EXPECT_EQ(memmove_s(buffer.data + 2, 6, buffer.data, 6), EOK);
  EXPECT_EQ(buffer.all(), "12123456");
  EXPECT_EQ(memmove_s(buffer.data, 8, "123456789", 9), ERANGE_AND_RESET);
  EXPECT_EQ(buffer.all(), kZeros);
}

TEST(Memset, FillsAtMostTheDestination) {
  Buffer buffer;
  EXPECT_EQ(memset_s(buffer.data, 8, 'z', 3), EOK);
  EXPECT_EQ(buffer.all().substr(0, 4), std::string("zzz\0", 4));
  EXPECT_EQ(memset_s(buffer.data, 8, 'y', 9), ERANGE_AND_RESET);
  EXPECT_EQ(buffer.all(), "yyyyyyyy");
}

TEST(Strcpy, CopiesWithItsEnd) {
  Buffer buffer;
  EXPECT_EQ(strcpy_s(buffer.data, 8, "1234567"), EOK);
  EXPECT_STREQ(buffer.data, "1234567");
  EXPECT_EQ(strcpy_s(buffer.data, 8, buffer.data), EOK);
  EXPECT_EQ(strcpy_s(buffer.data, 8, "12345678"), ERANGE_AND_RESET);
  EXPECT_STREQ(buffer.data, "");
  EXPECT_EQ(strcpy_s(buffer.data, 8, nullptr), EINVAL_AND_RESET);
  EXPECT_EQ(strcpy_s(nullptr, 8, "1"), EINVAL);
  EXPECT_EQ(strcpy_s(buffer.data, 0, "1"), ERANGE);
  EXPECT_EQ(strcpy_s(buffer.data, 8, "abc"), EOK);
  EXPECT_EQ(strcpy_s(buffer.data + 1, 7, buffer.data), EOVERLAP_AND_RESET);
}

TEST(Strncpy, CopiesAtMostCount) {
  Buffer buffer;
  EXPECT_EQ(strncpy_s(buffer.data, 8, "123456789", 4), EOK);
  EXPECT_STREQ(buffer.data, "1234");
  EXPECT_EQ(strncpy_s(buffer.data, 8, "ab", 100), EOK);
  EXPECT_STREQ(buffer.data, "ab");
  EXPECT_EQ(strncpy_s(buffer.data, 8, "123456789", 8), ERANGE_AND_RESET);
  EXPECT_STREQ(buffer.data, "");
  // The source ends where the destination begins, and has no end of its own.
  char pair[8] = {'a', 'b', 'c', 'd', '!', '!', '!', '!'};
  EXPECT_EQ(strncpy_s(pair + 4, 4, pair, 3), EOK);
  EXPECT_STREQ(pair + 4, "abc");
  char joined[9] = {'a', 'b', 'c', 'd', '!', '!', '!', '!', '!'};
  EXPECT_EQ(strncpy_s(joined + 4, 5, joined, 4), EOK);
  EXPECT_STREQ(joined + 4, "abcd");
  EXPECT_EQ(strncpy_s(pair, 8, pair, 2), EOK);
  EXPECT_STREQ(pair, "ab");
}

TEST(Strcat, AppendsWhatFits) {
  Buffer buffer;
  EXPECT_EQ(strcat_s(buffer.data, 8, "1234"), EOK);
  EXPECT_STREQ(buffer.data, "old1234");
  EXPECT_EQ(strcat_s(buffer.data, 8, "5"), ERANGE_AND_RESET);
  EXPECT_STREQ(buffer.data, "");
  EXPECT_EQ(strcat_s(buffer.data, 8, buffer.data), EOVERLAP_AND_RESET);
  std::memset(buffer.data, 'x', 8);
  EXPECT_EQ(strcat_s(buffer.data, 8, "1"), EINVAL_AND_RESET);
  EXPECT_STREQ(buffer.data, "");
}

TEST(Sprintf, SaysHowMuchItWrote) {
  Buffer buffer;
  EXPECT_EQ(sprintf_s(buffer.data, 8, "%d-%s", 12, "ab"), 5);
  EXPECT_STREQ(buffer.data, "12-ab");
  EXPECT_EQ(sprintf_s(buffer.data, 8, "%s", "12345678"), -1);
  EXPECT_STREQ(buffer.data, "");
  EXPECT_EQ(sprintf_s(nullptr, 8, "x"), -1);
  EXPECT_EQ(sprintf_s(buffer.data, 0, "x"), -1);
}

TEST(Snprintf, KeepsWhatCountCutsOff) {
  Buffer buffer;
  EXPECT_EQ(snprintf_s(buffer.data, 8, 7, "%s", "1234567"), 7);
  EXPECT_STREQ(buffer.data, "1234567");
  EXPECT_EQ(snprintf_s(buffer.data, 8, 3, "%s", "1234567"), -1);
  EXPECT_STREQ(buffer.data, "123");
  EXPECT_EQ(snprintf_s(buffer.data, 8, 100, "%s", "12345678"), -1);
  EXPECT_STREQ(buffer.data, "");
}

}  // namespace
}  // namespace fia::testing
