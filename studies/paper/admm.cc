#include "studies/paper/admm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/learn/vertical/admm/admm.h"
#include "parley/learn/vertical/model_part.h"
#include "parley/plan/vertical_terms.h"
#include "parley/protocol/secagg/secrets.h"
#include "parley/protocol/trained_model.h"
#include "parley/sim/engine/party.h"

namespace parley::paper {
namespace {

using charter::Charter;
using sim::ColumnsJob, sim::ColumnsRun, sim::Joined, sim::SeededEntropy, sim::SimulatedClock,
    sim::SimulateInput, sim::SimulateOptions;
using Parts = std::vector<std::vector<double>>;

constexpr const char* kWhy =
    "rule \"admm\" adds no noise: whoever holds the labels would get every record's exact score of "
    "every owner, and every owner all labels; epsilon is infinite, and nothing is charged";

Error bad(const std::string& key, const std::string& what, const std::string& hint) {
  return {Code::kInvalid, what, hint, {.key = key}};
}

/// Elsewhere a record without a class counts and says nothing; here its score would be pulled to 0.
Result<void> check_labels(const SimulateInput& input) {
  if (input.charter.schema.target.levels.empty()) return {};
  size_t others = 0;
  for (size_t m = 0; m < input.owners.size(); ++m)
    if (plan::holds_label(input.charter, m))
      std::visit(
          [&](const auto& rows) {
            for (size_t i = 0; i < rows->size(); ++i) others += std::fabs(rows->label(i)) != 1;
          },
          input.owners[m].rows);
  if (others == 0) return {};
  return bad("target.levels",
             std::to_string(others) + (others == 1 ? " record has" : " records have") +
                 " a label that is neither of the two levels",
             "Correct the labels, or leave these records out at every owner.");
}

learn::AdmmOptions options_of(const Charter& charter, uint64_t rows, int threads) {
  const charter::Protocol& p = charter.protocol;
  const charter::Admm& admm = *p.as<charter::Admm>();
  return {.loss = charter::loss_of(charter.model),
          .penalty = charter.model.l1 > 0 ? learn::Penalty::kSizes : learn::Penalty::kSquares,
          .lam = std::fmax(charter.model.l1, charter.model.l2) * static_cast<double>(rows),
          .rho = p.step,
          .scaling = admm.scaling,
          .warm = admm.warm_start,
          .rounds_max = static_cast<int>(p.rounds),
          .tolerance = admm.tolerance,
          .threads = threads};
}

/// ADMM knows no box: a model outside is not the charter's.
Result<void> check_box(const Charter& charter, const Parts& parts) {
  double largest = 0;
  for (const auto& part : parts)
    for (const double value : part) largest = std::fmax(largest, std::fabs(value));
  if (largest <= charter.model.box) return {};
  return bad("model.box",
             "is " + shortest(charter.model.box) + ", but the model has a coefficient of size " +
                 shortest(largest) + ", and rule admm has no means to bound it",
             "Raise model.box, or model.l2.");
}

/// Promises nothing to anybody.
learn::Model unprotected_model(const Charter& charter, size_t owner, std::vector<double> theta,
                               uint64_t seed) {
  Charter part = charter;
  part.schema = plan::part_schema(charter, owner);
  const size_t owners = charter.owners.size();
  const protocol::Trained trained{.theta = std::move(theta),
                                  .spent = std::vector<protocol::JobSpent>(owners),
                                  .answers = std::vector<uint32_t>(owners)};
  learn::Model model =
      protocol::trained_model(part, trained, {.started = SimulatedClock().now(), .seed = seed});
  model.card.statement = std::string(learn::kNotPrivate) + ": " + kWhy + ".";
  model.card.mechanism = "none";
  model.card.owners.clear();
  model.card.not_covered = {"everything"};
  return model;
}

/// As other rules leave it: every owner's part in a folder of its own, and the manifest.
Result<std::string> write_parts(const SimulateInput& input, const SimulateOptions& options,
                                const learn::JointPlan& plan, const Parts& parts) {
  const Charter& charter = input.charter;
  const size_t owners = parts.size();
  SeededEntropy entropy(options.seed, "masks of admm");
  std::map<std::pair<size_t, size_t>, Secret32> masks;
  for (size_t a = 0; a < owners; ++a)
    for (size_t b = a + 1; b < owners; ++b)
      masks[{a, b}] = masks[{b, a}] = protocol::draw_secret(entropy);
  learn::Manifest manifest{.name = charter.name, .charter = charter.hash};
  const auto folder = [&](size_t m) { return options.out / "simulated" / charter.owners[m].name; };
  for (size_t m = 0; m < owners; ++m) {
    double squares = 0;
    for (const double value : parts[m]) squares += value * value;
    learn::PartOfModel part{.model = unprotected_model(charter, m, parts[m], options.seed),
                            .owner = charter.owners[m].name,
                            .id = charter.records->id,
                            .charter = charter.hash,
                            .row_norm = plan.row_norms[m],
                            .ball = 1 + std::sqrt(squares),  // so that no score is cut
                            .bits = plan.bits,
                            .fraction = plan.fraction,
                            .salt = protocol::draw_secret(entropy)};
    for (size_t other = 0; other < owners; ++other)
      if (other != m) part.masks[charter.owners[other].name] = masks[{m, other}];
    const std::string text = learn::to_json(part);
    TRY(write_file(folder(m) / "part.json", text));
    manifest.parts.push_back({part.owner, sha256(as_bytes(text))});
  }
  std::string text = learn::to_json(manifest);
  for (size_t m = 0; m < owners; ++m) TRY(write_file(folder(m) / "manifest.json", text));
  return text;
}

Result<ColumnsRun> train(const SimulateInput& input, const SimulateOptions& options,
                         const learn::JointPlan& plan, const Joined& joined, uint64_t number) {
  const Charter& charter = input.charter;
  std::vector<double> labels;
  for (size_t i = 0; i < joined.all->size(); ++i) labels.push_back(joined.all->label(i));
  const std::vector<data::AnyRows> columns(joined.own.begin(), joined.own.end());
  ColumnsRun run;
  const learn::AdmmHooks hooks{.after_round = [&](const learn::AdmmHooks::View& view) {
    run.by_round.push_back(view.round.objective);
    options.progress(columns.size());
  }};
  auto result =
      learn::share_by_admm(columns, labels, options_of(charter, plan.rows, options.threads), hooks);
  if (!result) {
    Error error = result.error();
    error.where.key = "protocol.step";
    return error;
  }
  options.progress(columns.size() * (charter.protocol.rounds - run.by_round.size()));  // not needed
  run.parts = std::move(result->models);
  TRY(check_box(charter, run.parts));
  run.owners.assign(columns.size(), {.epsilon_spent = std::numeric_limits<double>::infinity(),
                                     .answers = static_cast<uint32_t>(run.by_round.size())});
  if (number == 0 && !options.out.empty())
    run.manifest = TRY(write_parts(input, options, plan, run.parts));
  return run;
}

}  // namespace

Result<ColumnsJob> admm_job(const SimulateInput& input, const SimulateOptions& options) {
  const Charter& charter = input.charter;
  if (!input.policies.empty()) TRY(charter::check_protects(charter));
  const learn::JointPlan plan = TRY(plan::columns_plan(charter));
  if (!(charter.model.l2 > 0 || charter.model.l1 > 0))
    return bad("model.l2", "or l1 must be above 0 for rule admm: columns may depend on each other",
               "For example l2 = 1e-5.");
  TRY(check_labels(input));
  return ColumnsJob{.plan = plan,
                    .protects = false,
                    .why_not_private = kWhy,
                    .train = [&input, &options, plan](const Joined& joined, uint64_t run) {
                      return train(input, options, plan, joined, run);
                    }};
}

}  // namespace parley::paper
