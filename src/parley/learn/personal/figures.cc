#include "parley/learn/personal/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "parley/data/trees/leaves.h"
#include "parley/learn/personal/mixture.h"
#include "parley/learn/pilot/whitened.h"
#include "parley/learn/solver/design.h"
#include "parley/learn/trees/for_owner.h"

namespace parley::learn {
namespace {

using Scores = std::vector<double>;

Design design_of(const data::AnyRows& rows, int threads) {
  Design design(data::columns_of(rows), threads);
  std::visit([&](const auto& kind) { design.add(*kind); }, rows);
  return design;
}

Scores linear_scores(const Design& rows, std::span<const double> theta) {
  Scores scores(rows.rows());
  rows.scores(theta, scores);
  return scores;
}

/// One model that may be part of a mixture.
struct Candidate {
  Centre centre = Centre::kZero;
  bool trees = false;
  double loss = 0;  // by cross-validation
  Scores scores{};  // of the held-out rows
};

bool knows_trees(const FiguresInput& input) {
  const bool loss = std::holds_alternative<Squared>(input.own.loss) ||
                    std::holds_alternative<Logistic>(input.own.loss);
  return loss && std::holds_alternative<std::shared_ptr<const data::Rows>>(input.own.rows);
}

/// What trees are grown on and judged by.
struct TreeRows {
  const data::Rows& own;
  const data::Rows* pilot;  // null: own rows only
  const data::Rows& judged;
};

Result<Candidate> with_trees(Centre centre, const TreeRows& rows, const Losses& loss,
                             const PersonalOptions& options) {
  const OwnerTrees grown =
      TRY(boosted_for_owner(rows.own, rows.pilot, loss, options.seed, options.threads));
  return Candidate{.centre = centre,
                   .trees = true,
                   .loss = grown.loss,
                   .scores = data::scores_of(grown.trees, rows.judged)};
}

/// The scores of rows by a model of their first columns.
Scores scores_by(std::span<const double> theta, const data::Rows& rows) {
  Scores scores;
  for (size_t i = 0; i < rows.size(); ++i)
    scores.push_back(std::inner_product(theta.begin(), theta.end(), rows.row(i).begin(), 0.0));
  return scores;
}

/// The rows with their scores as a further column.
data::Rows with_scores(const data::Rows& rows, const Scores& scores) {
  data::Rows found(rows.columns() + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    std::vector<double> z(row.begin(), row.end());
    z.push_back(scores[i]);
    found.add(z, rows.label(i));
  }
  return found;
}

/// The score of each public row by a linear model that has not seen it: the joint model saw none of
/// them, the public rows' own model is refitted without the row.
Scores public_scores(const FiguresInput& input, Centre centre, const data::Rows& rows) {
  if (centre == Centre::kJoint) return scores_by(input.own.joint, rows);
  Scores scores = scores_by(input.own.pilot, rows);
  if (input.own.hessian.empty()) return scores;  // Without it no row can be left out.
  return left_out_scores(input.own.loss, rows, input.own.hessian, std::move(scores));
}

/// Trees on all columns and the score of a linear model from outside: what that model misses of
/// this owner.
Result<Candidate> with_trees_on_outside_score(const FiguresInput& input, Centre centre,
                                              const TreeRows& rows,
                                              const PersonalOptions& options) {
  const auto& theta = centre == Centre::kJoint ? input.own.joint : input.own.pilot;
  const data::Rows own = with_scores(rows.own, scores_by(theta, rows.own));
  const data::Rows judged = with_scores(rows.judged, scores_by(theta, rows.judged));
  std::optional<data::Rows> pilot;
  if (rows.pilot) pilot = with_scores(*rows.pilot, public_scores(input, centre, *rows.pilot));
  Candidate found =
      TRY(with_trees(centre, {own, pilot ? &*pilot : nullptr, judged}, input.own.loss, options));
  if (centre == Centre::kJoint) found.loss += input.own.joint_optimism;
  return found;
}

/// The Hessian of the own rows' loss at the best linear model that an owner has alone, its ridge
/// inside.
std::vector<double> hessian_alone(const Losses& loss, const Design& own,
                                  const PersonalCandidate& alone) {
  std::vector<double> factors = linear_scores(own, alone.theta);
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < factors.size(); ++i)
          factors[i] =
              known.curvature(factors[i], own.labels()[i]) / static_cast<double>(own.rows());
      },
      loss);
  std::vector<double> hessian = own.products(factors);
  for (size_t j = 0; j < own.columns(); ++j) hessian[j * (own.columns() + 1)] += alone.strength;
  return hessian;
}

/// The same with the owner's own linear model, so that what trees gain from any good score is not
/// credited to others. Each own row is scored as if that model had not seen it.
Result<Candidate> with_trees_on_own_score(const TreeRows& rows, const PersonalCandidate& alone,
                                          const Losses& loss, const PersonalOptions& options) {
  Design design(rows.own.columns(), options.threads);
  design.add(rows.own);
  const data::Rows own =
      with_scores(rows.own, left_out_scores(loss, rows.own, hessian_alone(loss, design, alone),
                                            linear_scores(design, alone.theta)));
  const data::Rows judged = with_scores(rows.judged, scores_by(alone.theta, rows.judged));
  return with_trees(Centre::kZero, {own, nullptr, judged}, loss, options);
}

Result<void> add_trees(const FiguresInput& input, const PersonalCandidate& alone,
                       const PersonalOptions& options, std::vector<Candidate>& found) {
  const auto& own = *std::get<std::shared_ptr<const data::Rows>>(input.own.rows);
  const auto& judged = *std::get<std::shared_ptr<const data::Rows>>(input.held_out);
  const bool same = input.pilot && input.pilot->columns() == own.columns();
  const TreeRows rows{own, same ? input.pilot.get() : nullptr, judged};
  found.push_back(TRY(with_trees(Centre::kZero, {own, nullptr, judged}, input.own.loss, options)));
  found.push_back(TRY(with_trees_on_own_score(rows, alone, input.own.loss, options)));
  if (same) found.push_back(TRY(with_trees(Centre::kPilot, rows, input.own.loss, options)));
  if (!input.own.pilot.empty())
    found.push_back(TRY(with_trees_on_outside_score(input, Centre::kPilot, rows, options)));
  if (!input.own.joint.empty())
    found.push_back(TRY(with_trees_on_outside_score(input, Centre::kJoint, rows, options)));
  return {};
}

Result<std::vector<Candidate>> candidates_of(const FiguresInput& input, const Design& held_out,
                                             const PersonalOptions& options) {
  const PersonalModels models = TRY(personal_models(input.own, options));
  std::vector<Candidate> found;
  for (const PersonalCandidate& each : models.candidates)
    found.push_back({each.centre, false, each.cv_loss, linear_scores(held_out, each.theta)});
  if (knows_trees(input)) TRY(add_trees(input, best_alone(models.candidates), options, found));
  return found;
}

/// Which candidates may take part.
struct Allowed {
  std::span<const Centre> centres{};
  bool trees = true;

  bool operator()(const Candidate& candidate) const {
    const bool centre =
        std::find(centres.begin(), centres.end(), candidate.centre) != centres.end();
    return centre && (trees || !candidate.trees);
  }
};

/// The mixture of the candidates that are allowed; weights are 0 for the others.
struct Mixture {
  std::vector<double> weights{};
  Scores scores{};
};

Mixture mixture_of(std::span<const Candidate> candidates, const Allowed& allowed,
                   const Losses& loss, size_t rows) {
  std::vector<double> losses;
  std::vector<int> groups;
  std::vector<size_t> places;
  for (size_t k = 0; k < candidates.size(); ++k) {
    if (!allowed(candidates[k])) continue;
    losses.push_back(candidates[k].loss);
    groups.push_back(static_cast<int>(candidates[k].centre));
    places.push_back(k);
  }
  const double smallest = *std::min_element(losses.begin(), losses.end());
  const auto weights =
      mixture_weights(losses, equal_priors(groups), rows, mixture_temperature(loss, smallest));
  Mixture mixture{.weights = std::vector<double>(candidates.size()),
                  .scores = Scores(candidates[0].scores.size())};
  for (size_t j = 0; j < places.size(); ++j) {
    mixture.weights[places[j]] = weights[j];
    for (size_t i = 0; i < mixture.scores.size(); ++i)
      mixture.scores[i] += weights[j] * candidates[places[j]].scores[i];
  }
  return mixture;
}

/// The metric of scores with what each record moves it by, so that differences have a paired error.
struct Judged {
  double value = 0;
  std::vector<double> influences{};
};

double error_of(std::span<const double> influences) {
  double squares = 0;
  for (double each : influences) squares += each * each;
  return std::sqrt(squares);
}

class Judge {
 public:
  Judge(Measure measure, double scale, std::span<const double> labels)
      : measure_(measure), scale_(scale), labels_(labels) {}

  Measure measure() const { return measure_; }

  Result<void> check_defined() const {
    if (labels_.empty())
      return Error{Code::kInvalid, "no rows are held out to judge by", "Hold out more rows."};
    if (measure_ == Measure::kAuc && !auc(labels_, labels_))
      return Error{Code::kInvalid, "the held-out rows are of one class only, which defines no AUC",
                   "Hold out more rows."};
    return {};
  }

  Judged of(std::span<const double> scores) const {
    if (measure_ == Measure::kAuc)
      return {*auc(scores, labels_), influences_on_auc(scores, labels_)};
    std::vector<double> losses;
    for (size_t i = 0; i < scores.size(); ++i) {
      const double y = labels_[i], u = scores[i];
      losses.push_back(measure_ == Measure::kLogLoss ? Logistic{}.value(u, y)
                                                     : (u - y) * (u - y) * scale_ * scale_);
    }
    return mean_of(losses);
  }

 private:
  /// RMSE is the root of the mean: its influences are those of the mean over twice the root.
  Judged mean_of(const std::vector<double>& losses) const {
    double mean = 0;
    for (double each : losses) mean += each / static_cast<double>(losses.size());
    Judged judged{mean, influences_on_mean(losses)};
    if (measure_ != Measure::kRmse || mean == 0) return judged;
    judged.value = std::sqrt(mean);
    for (double& each : judged.influences) each /= 2 * judged.value;
    return judged;
  }

  Measure measure_;
  double scale_;
  std::span<const double> labels_;
};

Figure figure_of(const Judged& judged) { return {judged.value, error_of(judged.influences)}; }

FigureGain gain_of(Measure measure, const Judged& better, const Judged& than) {
  std::vector<double> apart;
  for (size_t i = 0; i < better.influences.size(); ++i)
    apart.push_back(better.influences[i] - than.influences[i]);
  const double gain = better.value - than.value;
  return {smaller_is_better(measure) ? -gain : gain, error_of(apart)};
}

size_t smaller_class_of(std::span<const double> labels, Measure measure) {
  if (measure != Measure::kAuc) return labels.size();
  const auto positive = static_cast<size_t>(
      std::count_if(labels.begin(), labels.end(), [](double label) { return label > 0; }));
  return std::min(positive, labels.size() - positive);
}

/// What is judged: scores of the held-out rows.
struct FourScores {
  Scores alone{}, own_public{}, personal{}, linear{};
  std::optional<Scores> joint{};
};

FourFigures figures_by(const Judge& judge, const FourScores& scores) {
  const Judged alone = judge.of(scores.alone), with_public = judge.of(scores.own_public),
               personal = judge.of(scores.personal);
  FourFigures figures{.measure = judge.measure(),
                      .alone = figure_of(alone),
                      .own_public = figure_of(with_public),
                      .personal = figure_of(personal),
                      .linear = figure_of(judge.of(scores.linear)),
                      .over_alone = gain_of(judge.measure(), personal, alone),
                      .over_own_public = gain_of(judge.measure(), personal, with_public)};
  if (scores.joint) figures.joint = figure_of(judge.of(*scores.joint));
  return figures;
}

}  // namespace

Result<OwnerFigures> owner_figures(const FiguresInput& input, const PersonalOptions& options) {
  const Design held_out = design_of(input.held_out, options.threads);
  const Judge judge(input.measure, input.scale, held_out.labels());
  TRY(judge.check_defined());
  const auto candidates = TRY(candidates_of(input, held_out, options));
  const size_t rows = data::size_of(input.own.rows);
  constexpr Centre kAll[] = {Centre::kZero, Centre::kPilot, Centre::kJoint};
  const auto mixed = [&](size_t centres, bool trees = true) {
    return mixture_of(candidates, {std::span(kAll, centres), trees}, input.own.loss, rows);
  };
  const Mixture alone = mixed(1), all = mixed(3);
  FourScores scores{alone.scores, mixed(2).scores, all.scores, mixed(3, false).scores};
  if (!input.own.joint.empty()) scores.joint = linear_scores(held_out, input.own.joint);
  OwnerFigures figures{figures_by(judge, scores)};
  figures.trained = rows;
  figures.judged = data::size_of(input.held_out);
  figures.smaller_class = smaller_class_of(held_out.labels(), input.measure);
  if (input.measure == Measure::kAuc && std::holds_alternative<Logistic>(input.own.loss))
    figures.log_loss = figures_by({Measure::kLogLoss, 1, held_out.labels()}, scores);
  for (size_t k = 0; k < candidates.size(); ++k) {
    if (candidates[k].trees)
      figures.alone_trees_weight += alone.weights[k], figures.trees_weight += all.weights[k];
    if (candidates[k].centre == Centre::kJoint) figures.joint_weight += all.weights[k];
  }
  return figures;
}

}  // namespace parley::learn
