#include "parley/plan/learner/weights.h"

#include <map>
#include <string>
#include <type_traits>
#include <variant>

#include "parley/learn/schedule/weights.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/terms.h"

namespace parley::plan {
namespace {

using charter::Charter;

/// The variance of the noise, where a lattice step is worth `unit`.
double variance_of(const privacy::Mechanisms& mechanisms, double unit) {
  return std::visit(
      [&]<class M>(const M& mechanism) {
        const double scale = static_cast<double>(mechanism.scale()) * unit;
        return (std::is_same_v<M, privacy::Laplace> ? 2 : 1) * scale * scale;
      },
      mechanisms);
}

}  // namespace

std::vector<double> row_weights(const Charter& charter) {
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  std::vector<double> weights;
  for (const charter::Owner& owner : charter.owners)
    weights.push_back(static_cast<double>(owner.rows) / rows);
  return weights;
}

Result<void> every_sign_key(const charter::Charter& charter) {
  std::map<std::string, std::string> holders;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    const std::string key = "owner[" + std::to_string(i) + "].sign_key";
    if (!owner.sign_key)
      return Error{Code::kInvalid,
                   owner.name + " has no sign_key, so nobody could check its receipts",
                   "Add the line that `parley join` printed for it.",
                   {.key = key}};
    const auto [known, fresh] = holders.emplace(to_text(*owner.sign_key), owner.name);
    if (!fresh)
      return Error{
          Code::kInvalid,
          owner.name + " has the sign_key of " + known->second + ": one party would speak for both",
          "Every owner makes a key of its own, with `parley join`.",
          {.key = key}};
  }
  return {};
}

Result<void> require_signatures(std::vector<PlannedOwner>& owners,
                                const charter::Charter& charter) {
  TRY(every_sign_key(charter));
  for (size_t i = 0; i < charter.owners.size(); ++i)
    owners[i].sign_key = charter.owners[i].sign_key;
  return {};
}

Result<double> noise_variance(const Charter& charter, size_t owner) {
  const Terms terms = TRY(terms_for(charter, owner));
  return variance_of(terms.mechanism, terms.lattice.gamma() / static_cast<double>(terms.rows));
}

Result<std::optional<learn::EvaluationMap>> plan_evaluation(const Charter& charter,
                                                            const Terms& terms,
                                                            std::vector<PlannedOwner>& owners) {
  if (!terms.evaluation) return std::optional<learn::EvaluationMap>();
  for (size_t i = 0; i < owners.size(); ++i) {
    const Terms own = TRY(terms_for(charter, i));
    owners[i].evaluation_variance = variance_of(own.evaluation->mechanism, 1);
  }
  return std::optional(terms.evaluation->map);
}

Result<std::vector<double>> owner_weights(const Charter& charter, const learn::Schedule& schedule,
                                          const data::Rows* pilot, const learn::Lattice& lattice) {
  if (charter.protocol.weights == charter::Weights::kRows) return row_weights(charter);
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "noise_optimal weights need public rows, and the charter has no [pilot]",
                 "Add a [pilot], or take weights = \"rows\".",
                 {.key = "protocol.weights"}};
  const auto [norm, limit] = clip_of(charter, lattice);
  const auto model =
      learn::error_model(schedule, charter::loss_of(charter.model), *pilot,
                         pilot_optimum(charter, *pilot), norm, limit, charter.model.l2);
  if (!model)
    return Error{Code::kInvalid,
                 "the pilot's Hessian is singular, so it cannot say what noise costs",
                 "Give a larger model.l2, or take weights = \"rows\".",
                 {.key = "protocol.weights"}};
  std::vector<learn::OwnerError> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const double variance = TRY(noise_variance(charter, i));
    const auto rows = static_cast<double>(charter.owners[i].rows);
    owners.push_back({rows, model->noise_gain * variance, model->spread / rows});
  }
  return learn::optimal_weights(owners);
}

}  // namespace parley::plan
