#include "parley/privacy/accounting/pld/transform.h"

#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include "parley/base/result.h"

namespace parley::privacy {
namespace {

// One pass over a block of length 4q. Splitting real from imaginary parts lets the compiler use
// whole vectors; `w` has six runs of q factors.
void split_by_four(double* __restrict re, double* __restrict im, size_t q,
                   const double* __restrict w) {
  for (size_t j = 0; j < q; ++j) {
    const double ar = re[j] + re[j + 2 * q], ai = im[j] + im[j + 2 * q];
    const double br = re[j + q] + re[j + 3 * q], bi = im[j + q] + im[j + 3 * q];
    const double cr = re[j] - re[j + 2 * q], ci = im[j] - im[j + 2 * q];
    const double dr = im[j + q] - im[j + 3 * q], di = re[j + 3 * q] - re[j + q];  // -i (b - d)
    const double r1 = cr + dr, i1 = ci + di, r2 = ar - br, i2 = ai - bi, r3 = cr - dr, i3 = ci - di;
    re[j] = ar + br;
    im[j] = ai + bi;
    re[j + q] = r1 * w[j] - i1 * w[j + q];
    im[j + q] = r1 * w[j + q] + i1 * w[j];
    re[j + 2 * q] = r2 * w[j + 2 * q] - i2 * w[j + 3 * q];
    im[j + 2 * q] = r2 * w[j + 3 * q] + i2 * w[j + 2 * q];
    re[j + 3 * q] = r3 * w[j + 4 * q] - i3 * w[j + 5 * q];
    im[j + 3 * q] = r3 * w[j + 5 * q] + i3 * w[j + 4 * q];
  }
}

/// Undoes split_by_four, but for a factor of 4.
void join_four(double* __restrict re, double* __restrict im, size_t q, const double* __restrict w) {
  for (size_t j = 0; j < q; ++j) {
    const double r1 = re[j + q] * w[j] + im[j + q] * w[j + q];
    const double i1 = im[j + q] * w[j] - re[j + q] * w[j + q];
    const double r2 = re[j + 2 * q] * w[j + 2 * q] + im[j + 2 * q] * w[j + 3 * q];
    const double i2 = im[j + 2 * q] * w[j + 2 * q] - re[j + 2 * q] * w[j + 3 * q];
    const double r3 = re[j + 3 * q] * w[j + 4 * q] + im[j + 3 * q] * w[j + 5 * q];
    const double i3 = im[j + 3 * q] * w[j + 4 * q] - re[j + 3 * q] * w[j + 5 * q];
    const double ar = re[j] + r2, ai = im[j] + i2, cr = re[j] - r2, ci = im[j] - i2;
    const double br = r1 + r3, bi = i1 + i3, dr = i3 - i1, di = r1 - r3;  // i (1 - 3)
    re[j] = ar + br;
    im[j] = ai + bi;
    re[j + q] = cr + dr;
    im[j + q] = ci + di;
    re[j + 2 * q] = ar - br;
    im[j + 2 * q] = ai - bi;
    re[j + 3 * q] = cr - dr;
    im[j + 3 * q] = ci - di;
  }
}

/// The last level: blocks of four, all factors 1.
void split_last(double* __restrict re, double* __restrict im, size_t blocks) {
  for (double* end = re + 4 * blocks; re != end; re += 4, im += 4) {
    const double ar = re[0] + re[2], ai = im[0] + im[2], br = re[1] + re[3], bi = im[1] + im[3];
    const double cr = re[0] - re[2], ci = im[0] - im[2], dr = im[1] - im[3], di = re[3] - re[1];
    re[0] = ar + br, re[1] = cr + dr, re[2] = ar - br, re[3] = cr - dr;
    im[0] = ai + bi, im[1] = ci + di, im[2] = ai - bi, im[3] = ci - di;
  }
}

void join_first(double* __restrict re, double* __restrict im, size_t blocks) {
  for (double* end = re + 4 * blocks; re != end; re += 4, im += 4) {
    const double ar = re[0] + re[2], ai = im[0] + im[2], br = re[1] + re[3], bi = im[1] + im[3];
    const double cr = re[0] - re[2], ci = im[0] - im[2], dr = im[3] - im[1], di = re[1] - re[3];
    re[0] = ar + br, re[1] = cr + dr, re[2] = ar - br, re[3] = cr - dr;
    im[0] = ai + bi, im[1] = ci + di, im[2] = ai - bi, im[3] = ci - di;
  }
}

void split_by_two(double* __restrict re, double* __restrict im, size_t q,
                  const double* __restrict w) {
  for (size_t j = 0; j < q; ++j) {
    const double r = re[j] - re[j + q], i = im[j] - im[j + q];
    re[j] += re[j + q];
    im[j] += im[j + q];
    re[j + q] = r * w[j] - i * w[j + q];
    im[j + q] = r * w[j + q] + i * w[j];
  }
}

void join_two(double* __restrict re, double* __restrict im, size_t q, const double* __restrict w) {
  for (size_t j = 0; j < q; ++j) {
    const double r = re[j + q] * w[j] + im[j + q] * w[j + q];
    const double i = im[j + q] * w[j] - re[j + q] * w[j + q];
    re[j + q] = re[j] - r;
    im[j + q] = im[j] - i;
    re[j] += r;
    im[j] += i;
  }
}

}  // namespace

Transform::Transform(size_t n) : half_(n / 2), quarter_(n / 2 + 1) {
  check(std::has_single_bit(n) && n >= 16 && n <= size_t{1} << 26);
  for (size_t k = 0; 2 * k <= half_; ++k) {  // the eighth of the circle where both are accurate
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    quarter_[k] = std::cos(angle);
    quarter_[half_ - k] = std::sin(angle);
  }
  for (size_t length = half_; length > 1;) {
    const size_t parts = std::countr_zero(length) % 2 == 1 ? 2 : 4, q = length / parts;
    Level level{length, std::vector<double>(2 * (parts - 1) * q)};
    const size_t stride = 2 * n / length;  // exp(-2 pi i / length) in units of 1 / (2 n)
    for (size_t power = 1; power < parts; ++power)
      for (size_t j = 0; j < q; ++j) {
        const size_t k = power * j * stride;
        level.twiddles[2 * (power - 1) * q + j] = cosine(k);
        level.twiddles[(2 * power - 1) * q + j] = -cosine(k + 3 * half_);  // sin x = cos(x - pi/2)
      }
    levels_.push_back(std::move(level));
    length = q;
  }
}

/// cos(2 pi k / (2 n)); half_ is a quarter of the circle.
double Transform::cosine(size_t k) const {
  const size_t quadrant = k / half_ % 4, rest = k % half_;
  const double value = quarter_[quadrant % 2 == 0 ? rest : half_ - rest];
  return quadrant == 1 || quadrant == 2 ? -value : value;
}

// Depth first, so that the deeper levels of a part find it in the cache; the last two levels
// without calls for a handful of points.
void Transform::descend(double* re, double* im, size_t level) const {
  const auto& [length, twiddles] = levels_[level];
  if (length == 4) return split_last(re, im, 1);
  const size_t parts = twiddles.size() == length ? 2 : 4, q = length / parts;
  (parts == 2 ? split_by_two : split_by_four)(re, im, q, twiddles.data());
  if (q == 4) return split_last(re, im, parts);
  for (size_t part = 0; part < parts; ++part) descend(re + part * q, im + part * q, level + 1);
}

void Transform::ascend(double* re, double* im, size_t level) const {
  const auto& [length, twiddles] = levels_[level];
  if (length == 4) return join_first(re, im, 1);
  const size_t parts = twiddles.size() == length ? 2 : 4, q = length / parts;
  if (q == 4)
    join_first(re, im, parts);
  else
    for (size_t part = 0; part < parts; ++part) ascend(re + part * q, im + part * q, level + 1);
  (parts == 2 ? join_two : join_four)(re, im, q, twiddles.data());
}

void Transform::forward(std::vector<double>& values) const {
  check(values.size() == 2 * half_);
  double *re = values.data(), *im = re + half_;
  for (size_t j = 0; j < half_; ++j) {
    const double c = quarter_[j], s = quarter_[half_ - j], r = re[j];
    re[j] = r * c - im[j] * s;
    im[j] = r * s + im[j] * c;
  }
  descend(re, im, 0);
}

void Transform::inverse(std::vector<double>& spectrum) const {
  check(spectrum.size() == 2 * half_);
  double *re = spectrum.data(), *im = re + half_;
  ascend(re, im, 0);
  const double scale = 1 / static_cast<double>(half_);  // a power of two: exact
  for (size_t j = 0; j < half_; ++j) {
    const double c = quarter_[j] * scale, s = quarter_[half_ - j] * scale, r = re[j];
    re[j] = r * c + im[j] * s;
    im[j] = im[j] * c - r * s;
  }
}

const Transform& transform_of(size_t n) {
  thread_local std::map<size_t, Transform> kept;
  return kept.try_emplace(n, n).first->second;
}

double transform_error(size_t n) {
  return 10 * 0x1p-53 * (std::countr_zero(n) + 2);  // Each level: 4 sqrt(2) u + the factor's 2 u.
}

}  // namespace parley::privacy
