#include "parley/learn/pilot/loss_after.h"

#include <cmath>

#include "parley/base/result.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

/// The rows of L', with M = L L', without directions that M leaves out.
std::vector<double> root_of(std::span<const double> m, size_t p) {
  check(m.size() == p * p);
  const Spectrum found = spectrum(m, p);
  const double least = 1e-10 * found.values.back();
  std::vector<double> root;
  for (size_t k = 0; k < p; ++k)
    if (const double value = found.values[k]; value > least && value > 0)
      for (size_t j = 0; j < p; ++j) root.push_back(std::sqrt(value) * found.vectors[k * p + j]);
  return root;
}

/// The transpose of a matrix with so many columns.
std::vector<double> transposed(std::span<const double> matrix, size_t columns) {
  const size_t rows = matrix.size() / columns;
  std::vector<double> found(matrix.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) found[j * rows + i] = matrix[i * columns + j];
  return found;
}

/// What a coordinate that starts at 1 and has noise of variance 1 in every gradient comes to.
struct Left {
  double start = 1, noise = 0;  // squared, and variance
};
Left left_of(const Schedule& schedule, double curvature) {
  double at = 1, average = 1;  // theta and the average of iterates, of the start
  double variance = 0, of_average = 0, both = 0;
  for (const Schedule::Round& round : schedule.rounds) {
    const double keep = 1 - round.step * curvature, q = round.average;
    at *= keep;
    variance = keep * keep * variance + round.step * round.step;
    both *= keep;  // of the new theta with the old average
    of_average = (1 - q) * (1 - q) * of_average + q * q * variance + 2 * q * (1 - q) * both;
    both = (1 - q) * both + q * variance;
    average = (1 - q) * average + q * at;
  }
  return {average * average, of_average};
}

}  // namespace

double loss_after(const Schedule& schedule, std::span<const double> hessian, double deviation,
                  double gap) {
  const size_t p = schedule.start.size();
  const std::vector<double> root = root_of(schedule.preconditioner, p);
  const size_t count = root.size() / p;
  const auto kept = static_cast<double>(count), all = static_cast<double>(p);
  double loss = gap * (all - kept) / all;
  if (count == 0) return loss;
  const Spectrum found =
      spectrum(product(product(root, hessian, p), transposed(root, p), p), count);
  const std::vector<double> turned = product(found.vectors, root, count);  // its rows
  for (size_t k = 0; k < count; ++k) {
    const std::span<const double> direction{&turned[k * p], p};
    const double curvature = std::fmax(found.values[k], 0);
    const double noise = deviation * deviation * dot(direction, direction);
    const Left left = left_of(schedule, curvature);
    loss += gap / all * left.start + curvature / 2 * noise * left.noise;
  }
  return loss;
}

}  // namespace parley::learn
