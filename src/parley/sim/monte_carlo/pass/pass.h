// Passes over packed rows with many models at once, compiled for two instruction sets and chosen at
// run time. Each model's sum is made by the same operations in the same order, whatever other
// models are in the pass and on either instruction set.
#pragma once

#include <span>

#include "parley/learn/kernel/kernel.h"
#include "parley/learn/loss.h"
#include "parley/sim/monte_carlo/pass/packed.h"

namespace parley::sim::monte_carlo {

/// sums += the records' clipped gradients, for every model; both lie one after the other. Best for
/// many models: a vector is one record and one coordinate of several models.
template <class Real>
void add_gradients(const learn::Losses& loss, const PackedRows<Real>& rows,
                   std::span<const double> models, std::span<double> sums,
                   learn::Isa isa = learn::fastest_isa());

/// The same, best for few models: a vector is several records and one coordinate of one model. Its
/// rounding is another.
template <class Real>
void add_gradients_by_rows(const learn::Losses& loss, const PackedRows<Real>& rows,
                           std::span<const double> models, std::span<double> sums,
                           learn::Isa isa = learn::fastest_isa());

/// sums += the records' losses, for every model.
template <class Real>
void add_values(const learn::Losses& loss, const PackedRows<Real>& rows,
                std::span<const double> models, std::span<double> sums,
                learn::Isa isa = learn::fastest_isa());

/// So many models are passed at no more cost than one.
template <class Real>
size_t models_at_once(learn::Isa isa = learn::fastest_isa());

}  // namespace parley::sim::monte_carlo
