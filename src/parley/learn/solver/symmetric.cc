#include "parley/learn/solver/symmetric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "parley/base/math/avx2.h"
#include "parley/base/result.h"

namespace parley::learn {
namespace {

double dot(const double* a, const double* b, size_t count) {
  __m256d lanes[4] = {};
  size_t j = 0;
  for (; j + 16 <= count; j += 16)
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k)
      lanes[k] =
          _mm256_fmadd_pd(_mm256_loadu_pd(a + j + 4 * k), _mm256_loadu_pd(b + j + 4 * k), lanes[k]);
  for (; j + 4 <= count; j += 4)
    lanes[0] = _mm256_fmadd_pd(_mm256_loadu_pd(a + j), _mm256_loadu_pd(b + j), lanes[0]);
  const __m256d all =
      _mm256_add_pd(_mm256_add_pd(lanes[0], lanes[1]), _mm256_add_pd(lanes[2], lanes[3]));
  double sum = (all[0] + all[2]) + (all[1] + all[3]);
  for (; j < count; ++j) sum = std::fma(a[j], b[j], sum);
  return sum;
}

/// Rows of a matrix, `stride` numbers apart.
struct RowsAt {
  const double* first;
  size_t count, stride;
};

/// out[j] += sum of factor_k row_k[j] for 4 kWide entries.
template <int kWide>
void add_tile(double* out, const double* factors, const RowsAt& rows, size_t column) {
  __m256d sum[kWide];
#pragma GCC unroll 8
  for (int c = 0; c < kWide; ++c) sum[c] = _mm256_loadu_pd(out + column + 4 * c);
  const double* row = rows.first + column;
  for (size_t k = 0; k < rows.count; ++k, row += rows.stride) {
    const __m256d factor = _mm256_broadcast_sd(factors + k);
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c)
      sum[c] = _mm256_fmadd_pd(factor, _mm256_loadu_pd(row + 4 * c), sum[c]);
  }
#pragma GCC unroll 8
  for (int c = 0; c < kWide; ++c) _mm256_storeu_pd(out + column + 4 * c, sum[c]);
}

/// out += sum of factor_k row_k: every entry in the order of k, one fused step each, however many
/// entries are computed at a time.
void add_rows(double* out, const double* factors, const RowsAt& rows, size_t width) {
  size_t j = 0;
  for (; j + 32 <= width; j += 32) add_tile<8>(out, factors, rows, j);
  for (; j + 8 <= width; j += 8) add_tile<2>(out, factors, rows, j);
  for (; j + 4 <= width; j += 4) add_tile<1>(out, factors, rows, j);
  for (; j < width; ++j)
    for (size_t k = 0; k < rows.count; ++k)
      out[j] = std::fma(factors[k], rows.first[k * rows.stride + j], out[j]);
}

/// out += factor row
void add_row(double* out, double factor, const double* row, size_t width) {
  add_rows(out, &factor, {row, 1, 0}, width);
}

/// Copies what lies above the diagonal to below it.
void mirror(std::vector<double>& matrix, size_t p) {
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < i; ++j) matrix[i * p + j] = matrix[j * p + i];
}

/// A = Q T Q' with T tridiagonal, by Householder's reflections: that of step k is I - tau v v' on
/// the coordinates after k, and its v is kept in row k of A.
class Tridiagonal {
 public:
  Tridiagonal(std::vector<double> matrix, size_t p)
      : p_(p), a_(std::move(matrix)), diagonal_(p), beside_(p), tau_(p) {
    for (size_t k = 0; k < p; ++k) reflect(k), diagonal_[k] = a_[k * p + k];
  }

  std::vector<double>& diagonal() { return diagonal_; }
  /// beside()[k] lies beside diagonal()[k] and diagonal()[k + 1].
  std::vector<double>& beside() { return beside_; }

  /// Q', the transpose of the product of the reflections, from the last one to the first.
  std::vector<double> turned() const {
    std::vector<double> q(p_ * p_);
    for (size_t k = 0; k < p_; ++k) q[k * p_ + k] = 1;
    for (size_t k = p_; k-- > 0;) {
      const size_t m = p_ - k - 1;
      if (tau_[k] == 0) continue;
      const double* v = &a_[k * p_ + k + 1];
      for (size_t i = k + 1; i < p_; ++i) {
        double* row = &q[i * p_ + k + 1];
        add_row(row, -tau_[k] * dot(row, v, m), v, m);
      }
    }
    return q;
  }

 private:
  void reflect(size_t k) {
    const size_t m = p_ - k - 1;
    if (m == 0) return;
    double* v = &a_[k * p_ + k + 1];
    const double first = v[0], rest = dot(v + 1, v + 1, m - 1);
    beside_[k] = first;
    if (!(rest > std::numeric_limits<double>::min())) return;
    const double length = std::sqrt(first * first + rest);
    const double beta = first < 0 ? length : -length;
    beside_[k] = beta;
    tau_[k] = (beta - first) / beta;
    v[0] = 1;
    for (size_t j = 1; j < m; ++j) v[j] /= first - beta;
    update(k, v, m);
  }

  /// The rest of A, above its diagonal, turned by the reflection: A - v w' - w v'.
  void update(size_t k, const double* v, size_t m) {
    std::vector<double> w(m);  // first A v
    for (size_t i = 0; i < m; ++i) {
      const double* row = &a_[(k + 1 + i) * p_ + k + 1];
      w[i] += dot(row + i, v + i, m - i);
      add_row(w.data() + i + 1, v[i], row + i + 1, m - i - 1);
    }
    for (double& value : w) value *= tau_[k];
    add_row(w.data(), -tau_[k] / 2 * dot(w.data(), v, m), v, m);
    for (size_t i = 0; i < m; ++i) {
      double* row = &a_[(k + 1 + i) * p_ + k + 1];
      add_row(row + i, -v[i], w.data() + i, m - i);
      add_row(row + i, -w[i], v + i, m - i);
    }
  }

  size_t p_;
  std::vector<double> a_, diagonal_, beside_, tau_;
};

/// (x, y) = (c x - s y, s x + c y)
void rotate(double* x, double* y, double c, double s, size_t count) {
  const __m256d cc = _mm256_set1_pd(c), ss = _mm256_set1_pd(s);
  size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const __m256d a = _mm256_loadu_pd(x + j), b = _mm256_loadu_pd(y + j);
    _mm256_storeu_pd(x + j, cc * a - ss * b);
    _mm256_storeu_pd(y + j, ss * a + cc * b);
  }
  for (; j < count; ++j) {
    const double a = x[j], b = y[j];
    x[j] = c * a - s * b, y[j] = s * a + c * b;
  }
}

/// Implicit QR steps with Wilkinson's shift (Golub, Van Loan, Matrix Computations, 8.3) until the
/// numbers beside the diagonal vanish. Turns the rows of `vectors` along, if there are any.
class QrSteps {
 public:
  QrSteps(std::vector<double>& diagonal, std::vector<double>& beside, std::vector<double>& vectors)
      : d_(diagonal), e_(beside), vectors_(vectors) {}

  void run() {
    size_t last = d_.size() - 1;
    for (size_t steps = 60 * d_.size(); steps > 0; --steps) {
      for (size_t k = 0; k < last; ++k)
        if (vanishes(k)) e_[k] = 0;
      while (last > 0 && e_[last - 1] == 0) --last;
      if (last == 0) return;
      size_t first = last - 1;
      while (first > 0 && e_[first - 1] != 0) --first;
      step(first, last);
    }
  }

 private:
  /// The matrix is scaled to 1. Also where something is no number.
  bool vanishes(size_t k) const {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    return !(std::fabs(e_[k]) > kEpsilon * (std::fabs(d_[k]) + std::fabs(d_[k + 1])) + 0x1p-80);
  }

  double shift(size_t last) const {
    const double half = (d_[last - 1] - d_[last]) / 2, e = e_[last - 1];
    const double root = std::sqrt(half * half + e * e);
    const double below = half + (half > 0 ? root : -root);
    return below == 0 ? d_[last] - std::fabs(e) : d_[last] - e * e / below;
  }

  void step(size_t first, size_t last) {
    double x = d_[first] - shift(last), z = e_[first];
    for (size_t k = first; k < last; ++k) {
      const double r = std::sqrt(x * x + z * z), c = r > 0 ? x / r : 1, s = r > 0 ? -z / r : 0;
      const double upper = s * d_[k] + c * e_[k], lower = s * e_[k] + c * d_[k + 1];
      d_[k] = c * (c * d_[k] - s * e_[k]) - s * (c * e_[k] - s * d_[k + 1]);
      d_[k + 1] = s * upper + c * lower;
      e_[k] = c * upper - s * lower;
      if (k > first) e_[k - 1] = c * e_[k - 1] - s * z;
      x = e_[k];
      if (k + 1 < last) z = -s * e_[k + 1], e_[k + 1] = c * e_[k + 1];
      if (!vectors_.empty())
        rotate(&vectors_[k * d_.size()], &vectors_[(k + 1) * d_.size()], c, s, d_.size());
    }
  }

  std::vector<double>&d_, &e_, &vectors_;
};

Spectrum sorted(const std::vector<double>& values, const std::vector<double>& vectors) {
  const size_t p = values.size();
  std::vector<size_t> order(p);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  Spectrum found;
  for (size_t k : order) {
    found.values.push_back(values[k]);
    if (vectors.empty()) continue;
    const auto row = vectors.begin() + static_cast<std::ptrdiff_t>(k * p);
    found.vectors.insert(found.vectors.end(), row, row + static_cast<std::ptrdiff_t>(p));
  }
  return found;
}

Spectrum spectrum_of(std::span<const double> matrix, size_t p, bool with_vectors) {
  check(matrix.size() == p * p && p > 0);
  double largest = 0;
  for (size_t i = 0; i < p; ++i)
    for (size_t j = i; j < p; ++j) largest = std::fmax(largest, std::fabs(matrix[i * p + j]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  std::vector<double> scaled(matrix.begin(), matrix.end());
  for (double& value : scaled) value = std::ldexp(value, -exponent);
  Tridiagonal found(std::move(scaled), p);
  std::vector<double> vectors = with_vectors ? found.turned() : std::vector<double>();
  QrSteps(found.diagonal(), found.beside(), vectors).run();
  for (double& value : found.diagonal()) value = std::ldexp(value, exponent);
  return sorted(found.diagonal(), vectors);
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  check(a.size() == b.size());
  return dot(a.data(), b.data(), a.size());
}

double length_of(std::span<const double> v) { return std::sqrt(dot(v, v)); }

std::vector<double> times(std::span<const double> matrix, std::span<const double> v) {
  check(!v.empty() && matrix.size() % v.size() == 0);
  std::vector<double> out(matrix.size() / v.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = dot(matrix.data() + i * v.size(), v.data(), v.size());
  return out;
}

std::vector<double> product(std::span<const double> left, std::span<const double> right,
                            size_t inner) {
  check(inner > 0 && left.size() % inner == 0 && right.size() % inner == 0);
  const size_t rows = left.size() / inner, columns = right.size() / inner;
  std::vector<double> out(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    add_rows(out.data() + i * columns, left.data() + i * inner, {right.data(), inner, columns},
             columns);
  return out;
}

std::optional<Cholesky> Cholesky::of(std::span<const double> matrix, size_t dimension) {
  check(matrix.size() == dimension * dimension);
  Cholesky found(dimension);
  std::vector<double>& u = found.upper_;
  std::vector<double> above(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    double* row = &u[i * dimension + i];
    std::copy_n(&matrix[i * dimension + i], dimension - i, row);
    for (size_t k = 0; k < i; ++k) above[k] = -u[k * dimension + i];
    add_rows(row, above.data(), {u.data() + i, i, dimension}, dimension - i);
    if (!(row[0] > 0) || !std::isfinite(row[0])) return std::nullopt;
    const double root = std::sqrt(row[0]);
    row[0] = root;
    for (size_t j = 1; j < dimension - i; ++j) row[j] /= root;
  }
  return found;
}

std::vector<double> Cholesky::solve(std::span<const double> right) const {
  check(right.size() == p_);
  std::vector<double> x(right.begin(), right.end());
  for (size_t k = 0; k < p_; ++k) {
    const double* row = &upper_[k * p_ + k];
    x[k] /= row[0];
    add_row(x.data() + k + 1, -x[k], row + 1, p_ - k - 1);
  }
  for (size_t k = p_; k-- > 0;) {
    const double* row = &upper_[k * p_ + k];
    x[k] = (x[k] - dot(row + 1, x.data() + k + 1, p_ - k - 1)) / row[0];
  }
  return x;
}

/// The sum of r_k r_k' over the rows r_k of the inverse of U'.
std::vector<double> Cholesky::inverse() const {
  std::vector<double> rows(p_ * p_), above(p_);
  for (size_t k = 0; k < p_; ++k) {
    const double root = upper_[k * p_ + k];
    double* row = &rows[k * p_];
    for (size_t i = 0; i < k; ++i) above[i] = -upper_[i * p_ + k];
    add_rows(row, above.data(), {rows.data(), k, p_}, k);
    for (size_t j = 0; j < k; ++j) row[j] /= root;
    row[k] = 1 / root;
  }
  return sum_of_squares(std::vector<double>(p_, 1), rows);
}

Spectrum spectrum(std::span<const double> matrix, size_t dimension) {
  return spectrum_of(matrix, dimension, true);
}

std::vector<double> eigenvalues(std::span<const double> matrix, size_t dimension) {
  return spectrum_of(matrix, dimension, false).values;
}

std::vector<double> sum_of_squares(std::span<const double> values,
                                   std::span<const double> vectors) {
  const size_t count = values.size();
  check(count > 0 && vectors.size() % count == 0);
  const size_t p = vectors.size() / count;
  std::vector<double> out(p * p), factors(count);
  for (size_t i = 0; i < p; ++i) {
    for (size_t k = 0; k < count; ++k) factors[k] = values[k] * vectors[k * p + i];
    add_rows(&out[i * p + i], factors.data(), {vectors.data() + i, count, p}, p - i);
  }
  mirror(out, p);
  return out;
}

}  // namespace parley::learn
