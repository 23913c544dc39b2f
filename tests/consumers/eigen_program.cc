// A program with an Eigen and vector flags of its own beside the library: neither may get the other's
// functions.
#include <Eigen/Dense>
#include <cstdio>

extern "C" int RunNativeAttention();

namespace {

// A product of small integers, exact in float, the way Eigen computes it and in plain loops.
int WrongProducts() {
  const Eigen::Index rows = 33, terms = 47, columns = 29;
  Eigen::MatrixXf left(rows, terms), right(terms, columns);
  for (Eigen::Index i = 0; i < left.size(); ++i) left.data()[i] = static_cast<float>(i % 13 - 6);
  for (Eigen::Index i = 0; i < right.size(); ++i) right.data()[i] = static_cast<float>(i % 7 - 3);
  const Eigen::MatrixXf product = left * right;
  int wrong = 0;
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index column = 0; column < columns; ++column) {
      float sum = 0;
      for (Eigen::Index term = 0; term < terms; ++term) sum += left(row, term) * right(term, column);
      wrong += product(row, column) != sum;
    }
  }
  return wrong;
}

}  // namespace

int main() {
  const int before = WrongProducts();
  const int attention = RunNativeAttention();
  const int after = WrongProducts();
  std::printf("own Eigen: %d and %d wrong elements\n", before, after);
  return before + attention + after;
}
