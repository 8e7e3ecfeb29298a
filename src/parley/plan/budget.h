// How an owner's promise (epsilon, delta) is divided: between training and evaluation, and among
// the data sets in which one person may sit and the jobs of one charter. Every part is rounded
// down, so that all parts together never exceed the promise.
#pragma once

#include "parley/charter/charter.h"
#include "parley/privacy/units.h"

namespace parley::plan {

/// What an owner's epsilon buys.
enum class Part { kTraining, kEvaluation };

/// `whole`, an epsilon or a rho, over equal `parts`, rounded down. Charges of several data sets or
/// jobs add up (theory (N8)), pure ones as epsilon and Gaussian ones as rho: for kappa
/// data sets Gaussian noise grows by sqrt(kappa) only.
double divided(double whole, int64_t parts);

/// The parts of an owner's promise that one job may use: kappa data sets of the same people, times
/// the jobs of the charter that ask this owner.
int64_t parts_of(const charter::Charter& charter);

/// epsilon (1 - evaluate), rounded down at every step. The whole epsilon of a sharing charter,
/// which evaluates nothing.
double training_epsilon(const charter::Charter& charter, const charter::Owner& owner);

/// The largest rho found that is (epsilon, delta)-DP by the ledger's own conversion
/// (privacy/budget/budget.h), for which a thousandth of delta is kept back.
Result<double> rho_of(double epsilon, double delta);

/// The epsilon of a rho by the same conversion, rounded up.
Result<double> epsilon_of(double rho, double delta);

/// The epsilon, at this delta, of so many jobs that each cost (epsilon, delta); a part of one if
/// below 1. Without a delta epsilons add up, with one the rho behind them.
Result<double> epsilon_of_jobs(double epsilon, double delta, double jobs);

/// What all of a part of one job may cost: epsilon where noise is Laplace's, rho where it is
/// Gaussian. The evaluation gets what lies between the whole and the training.
Result<privacy::Epsilon> epsilon_for(const charter::Charter& charter, const charter::Owner& owner,
                                     Part part);
Result<privacy::Rho> rho_for(const charter::Charter& charter, const charter::Owner& owner,
                             Part part);

}  // namespace parley::plan
