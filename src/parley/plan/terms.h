// From a charter to an owner's terms: which clip, which lattice, which noise.
#pragma once

#include <optional>
#include <variant>

#include "parley/charter/charter.h"
#include "parley/plan/budget.h"
#include "parley/plan/fine_tune.h"
#include "parley/plan/sensitivity.h"
#include "parley/privacy/mechanisms.h"

namespace parley::plan {

using Statistics = std::variant<learn::StatisticsMap<L1>, learn::StatisticsMap<L2>>;

/// How far one unit's records move an answer: of moments if that is what is asked, else of
/// gradients.
template <class Norm>
double sensitivity_of(const learn::Lattice& lattice, const std::optional<Statistics>& statistics,
                      uint32_t unit_records) {
  if (!statistics) return plan::sensitivity<Norm>(lattice, unit_records);
  return plan::sensitivity(std::get<learn::StatisticsMap<Norm>>(*statistics), unit_records);
}

/// The evaluation at the end of a job: what is asked, and the noise that its part of epsilon buys.
struct Evaluation {
  learn::EvaluationMap map;
  privacy::Mechanisms mechanism;
};

/// The Gram matrix of rule gram, where one owner stands alone (plan/sums/gram.h): what is asked,
/// and the noise that its part of rho buys.
struct GramOnce {
  learn::StatisticsMap<L2> map;
  privacy::Gaussian mechanism;
};

/// What a job may ask of an owner: public numbers, fixed by the charter before the first query.
struct Terms {
  Hash charter{};
  uint64_t rows = 0;
  uint32_t answers = 0;
  double box = 0;
  uint32_t unit_records = 1;
  learn::Losses loss;
  learn::Lattice lattice;  // on which answers lie; it also says how many features there are
  privacy::Mechanisms mechanism;
  /// Set where the answer is not a gradient but all second moments, once; in the mechanism's norm.
  std::optional<Statistics> statistics{};
  /// Set where the model is evaluated after the last answer, once.
  std::optional<Evaluation> evaluation{};
  /// Set where a Gram matrix comes before the first answer, once.
  std::optional<GramOnce> gram{};
  /// The job may do without some of this owner's answers, and be evaluated before all are given;
  /// the evaluation is the end all the same.
  bool may_end_early = false;
  /// Set where the answer is a model, tuned near theta, once.
  std::optional<FineTune> fine_tune{};

  /// How far one unit's records move an answer.
  template <class Norm>
  double sensitivity() const {
    if (fine_tune) return fine_tune->sensitivity<Norm>();
    return sensitivity_of<Norm>(lattice, statistics, unit_records);
  }
  template <class Norm>
  double evaluation_sensitivity() const {
    return plan::sensitivity<Norm>(evaluation->map, unit_records);
  }
  double gram_sensitivity() const { return plan::sensitivity(gram->map, unit_records); }
  /// How many numbers an answer has.
  size_t numbers() const {
    return statistics ? learn::statistics_size(lattice.dimension()) : lattice.dimension();
  }
};

/// What an evaluation adds up of every record, if the charter keeps epsilon for one.
Result<std::optional<learn::EvaluationMap>> evaluation_map(const charter::Charter& charter);

/// The terms of owner `owner` of the charter. Its epsilon pays for `answers` answers and for the
/// evaluation kept back; with overlap kappa it uses epsilon / kappa, or rho / kappa under Gaussian
/// noise, because a person may sit in kappa data sets, and so with several jobs among which the
/// charter splits it. What this version cannot run soundly is
/// refused, naming the key.
Result<Terms> terms_for(const charter::Charter& charter, size_t owner);

}  // namespace parley::plan
