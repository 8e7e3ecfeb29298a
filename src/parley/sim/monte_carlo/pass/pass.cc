#include "parley/sim/monte_carlo/pass/pass.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "parley/base/math/avx2.h"
#include "parley/base/result.h"

namespace parley::sim::monte_carlo {
namespace {

namespace v3 {
#include "parley/sim/monte_carlo/pass/vector_v3.inl"
// They need them:
#include "parley/sim/monte_carlo/pass/slopes.inl"
// They need those:
#include "parley/sim/monte_carlo/pass/pass.inl"
}  // namespace v3
#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("arch=x86-64-v4"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#endif
namespace v4 {
#include "parley/sim/monte_carlo/pass/vector_v4.inl"
// They need them:
#include "parley/sim/monte_carlo/pass/slopes.inl"
// They need those:
#include "parley/sim/monte_carlo/pass/pass.inl"
// It needs all:
#include "parley/sim/monte_carlo/pass/hinge_v4.inl"
}  // namespace v4
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
namespace v4 = v3;  // Other processors have one instruction set.
#endif

using learn::Isa;

constexpr size_t kMostVectors = 4;
template <class Real>
constexpr size_t kLanes = kVectorBytes / sizeof(Real);
template <class Real>
constexpr size_t kModels = kMostVectors * kLanes<Real>;

template <size_t kN, class Real, class L>
void chunk_gradients(Isa isa, const L& loss, const PackedRows<Real>& rows, size_t chunk,
                     const Real* theta, Real* gradient) {
  if (isa == Isa::kV4) return v4::add_chunk<kN>(loss, rows, chunk, theta, gradient);
  if constexpr (kN <= v3::kVectors) return v3::add_chunk<kN>(loss, rows, chunk, theta, gradient);
}

template <size_t kN, class Real, class L>
void chunk_values(Isa isa, const L& loss, const PackedRows<Real>& rows, size_t chunk,
                  const Real* theta, Real* values) {
  if (isa == Isa::kV4) return v4::add_chunk_values<kN>(loss, rows, chunk, theta, values);
  if constexpr (kN <= v3::kVectors)
    return v3::add_chunk_values<kN>(loss, rows, chunk, theta, values);
}

/// Calls use(std::integral_constant<size_t, N>) for N = vectors.
template <class Use>
void with_vectors(size_t vectors, const Use& use) {
  switch (vectors) {
    case 1:
      return use(std::integral_constant<size_t, 1>());
    case 2:
      return use(std::integral_constant<size_t, 2>());
    case 3:
      return use(std::integral_constant<size_t, 3>());
    default:
      return use(std::integral_constant<size_t, 4>());
  }
}

/// Models side by side, coordinate by coordinate, and sums of the same shape.
template <class Real>
struct Tile {
  size_t vectors = 0, lanes = 0;
  Lines<Real> theta{}, chunk{};
  std::vector<double> total{};

  Tile(std::span<const double> models, size_t p, size_t per_model)
      : vectors((models.size() / p + kLanes<Real> - 1) / kLanes<Real>),
        lanes(vectors * kLanes<Real>),
        theta(p * lanes),
        chunk(per_model * lanes),
        total(per_model * lanes) {
    for (size_t r = 0; r < models.size() / p; ++r)
      for (size_t j = 0; j < p; ++j) theta[j * lanes + r] = static_cast<Real>(models[r * p + j]);
  }
  double at(size_t j, size_t model) const { return total[j * lanes + model]; }
  /// Work adds a chunk's sums in single precision, this takes them to the total.
  template <class Work>
  void add(const Work& work) {
    std::fill(chunk.begin(), chunk.end(), Real{0});
    work();
    for (size_t k = 0; k < total.size(); ++k) total[k] += static_cast<double>(chunk[k]);
  }
};

/// Chunk by chunk, which stays in the cache while the models pass in tiles: work(tile's vectors,
/// chunk, theta, sums), with `per_model` sums each.
template <class Real, class Work>
void by_tiles(Isa isa, const PackedRows<Real>& rows, std::span<const double> models,
              std::span<double> sums, size_t per_model, const Work& work) {
  const size_t p = rows.columns(), count = models.size() / p, most = models_at_once<Real>(isa);
  check(sums.size() == count * per_model);
  std::vector<Tile<Real>> tiles;
  for (size_t first = 0; first < count; first += most)
    tiles.emplace_back(models.subspan(first * p, std::min(most, count - first) * p), p, per_model);
  for (size_t chunk = 0; chunk < rows.chunks(); ++chunk)
    for (Tile<Real>& tile : tiles)
      with_vectors(tile.vectors, [&](auto vectors) {
        tile.add([&] { work(vectors, chunk, tile.theta.data(), tile.chunk.data()); });
      });
  for (size_t r = 0; r < count; ++r)
    for (size_t j = 0; j < per_model; ++j)
      sums[r * per_model + j] += tiles[r / most].at(j, r % most);
}

}  // namespace

template <class Real>
size_t models_at_once(Isa isa) {
  return (isa == Isa::kV4 ? v4::kVectors : v3::kVectors) * kLanes<Real>;
}

template <class Real>
void add_gradients(const learn::Losses& loss, const PackedRows<Real>& rows,
                   std::span<const double> models, std::span<double> sums, Isa isa) {
  check(rows.hinge() == std::holds_alternative<learn::Hinge>(loss));
  std::visit(
      [&](const auto& known) {
        by_tiles(isa, rows, models, sums, rows.columns(), [&](auto vectors, auto... rest) {
          chunk_gradients<vectors()>(isa, known, rows, rest...);
        });
      },
      loss);
}

template <class Real>
void add_values(const learn::Losses& loss, const PackedRows<Real>& rows,
                std::span<const double> models, std::span<double> sums, Isa isa) {
  check(rows.hinge() == std::holds_alternative<learn::Hinge>(loss));
  std::visit(
      [&](const auto& known) {
        by_tiles(isa, rows, models, sums, 1, [&](auto vectors, auto... rest) {
          chunk_values<vectors()>(isa, known, rows, rest...);
        });
      },
      loss);
}

template <class Real>
void add_gradients_by_rows(const learn::Losses& loss, const PackedRows<Real>& rows,
                           std::span<const double> models, std::span<double> sums, Isa isa) {
  const size_t p = rows.columns(), count = models.size() / p;
  check(sums.size() == models.size());
  check(rows.hinge() == std::holds_alternative<learn::Hinge>(loss));
  const std::vector<Real> theta(models.begin(), models.end());
  std::vector<Real> gradient(p);
  for (size_t chunk = 0; chunk < rows.chunks(); ++chunk)  // Read once for all models.
    for (size_t r = 0; r < count; ++r) {
      std::fill(gradient.begin(), gradient.end(), Real{0});
      std::visit(
          [&](const auto& known) {
            isa == Isa::kV4
                ? v4::add_chunk_by_rows(known, rows, chunk, &theta[r * p], gradient.data())
                : v3::add_chunk_by_rows(known, rows, chunk, &theta[r * p], gradient.data());
          },
          loss);
      for (size_t j = 0; j < p; ++j) sums[r * p + j] += static_cast<double>(gradient[j]);
    }
}

template size_t models_at_once<float>(Isa);
template size_t models_at_once<double>(Isa);
template void add_gradients(const learn::Losses&, const PackedRows<float>&, std::span<const double>,
                            std::span<double>, Isa);
template void add_gradients(const learn::Losses&, const PackedRows<double>&,
                            std::span<const double>, std::span<double>, Isa);
template void add_gradients_by_rows(const learn::Losses&, const PackedRows<float>&,
                                    std::span<const double>, std::span<double>, Isa);
template void add_gradients_by_rows(const learn::Losses&, const PackedRows<double>&,
                                    std::span<const double>, std::span<double>, Isa);
template void add_values(const learn::Losses&, const PackedRows<float>&, std::span<const double>,
                         std::span<double>, Isa);
template void add_values(const learn::Losses&, const PackedRows<double>&, std::span<const double>,
                         std::span<double>, Isa);

}  // namespace parley::sim::monte_carlo
