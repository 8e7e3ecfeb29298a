#include "parley/plan/vertical_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/math/number.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/vertical/joint_moments.h"
#include "parley/plan/budget.h"
#include "parley/plan/can_run.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

Error bad(const std::string& key, const std::string& what, const std::string& hint) {
  return {Code::kInvalid, what, hint, {.key = key}};
}

constexpr int kFinest = 20, kCoarsest = 10;  // bits of the rows

/// The bounds R_m of the charter.
learn::JointPlan plan_of(const Charter& charter) {
  learn::JointPlan plan{.balls = part_balls(charter),
                        .fraction = static_cast<int>(charter.privacy.grid_bits),
                        .bits = kFinest,
                        .rows = static_cast<uint64_t>(charter.records->count)};
  for (const charter::Owner& owner : charter.owners) plan.row_norms.push_back(owner.max_row_norm);
  return plan;
}

/// Every owner is charged for the whole sum, so it is what the strictest promise buys.
Result<privacy::Rho> smallest_rho(const Charter& charter) {
  auto smallest = TRY(rho_for(charter, charter.owners[0], Part::kTraining));
  for (const charter::Owner& owner : charter.owners) {
    const auto rho = TRY(rho_for(charter, owner, Part::kTraining));
    if (rho.value() < smallest.value()) smallest = rho;
  }
  return smallest;
}

/// Refuses bounds that are smaller than their rounding, or too large for the integers.
Result<void> check_norms(const Charter& charter, const learn::JointPlan& plan) {
  for (size_t i = 0; i < plan.row_norms.size(); ++i) {
    const double rounding =
        std::sqrt(double(part_schema(charter, i).features().size())) * std::ldexp(1.0, -plan.bits);
    if (plan.row_norms[i] > rounding && plan.row_norms[i] < 0x1p20) continue;
    return bad(
        "owner[" + std::to_string(i) + "].max_row_norm",
        "is " + shortest(plan.row_norms[i]) + ", not between " + shortest(rounding) + " and 2^20",
        "Scale max_row_norm to about 1.");
  }
  return {};
}

/// The finest grid of the rows on which all sums fit 64 bits.
Result<privacy::Gaussian> fit(learn::JointPlan& plan, uint32_t rounds, privacy::Rho rho,
                              bool moments) {
  for (plan.bits = kFinest; plan.bits >= kCoarsest; --plan.bits) {
    const double sensitivity = moments ? learn::moments_sensitivity(plan) : plan.sensitivity();
    const auto noise = privacy::Gaussian::calibrate(sensitivity, rounds, rho);
    if (!noise || noise->scale() >= 0x1p56) continue;
    if (moments ? learn::moments_fit(plan, noise->scale()) : plan.fits(noise->scale()))
      return *noise;
  }
  return bad("privacy.grid_bits", "the sums of so many records do not fit 64 bits",
             moments ? "Use fewer records." : "Use fewer grid_bits.");
}

/// V-C: a part of the model is bounded by the box alone, and off the diagonal noise has half the
/// variance.
Result<privacy::Gaussian> open_moments(const Charter& charter, VerticalTerms& terms) {
  size_t all = 0;
  for (const size_t columns : terms.columns) all += columns;
  if (all > learn::kStatisticsColumnsMax)
    return bad("protocol.rule",
               "statistics are for at most " + std::to_string(learn::kStatisticsColumnsMax) +
                   " features, found " + std::to_string(all),
               "Take rule = \"gradients\".");
  for (size_t m = 0; m < terms.columns.size(); ++m)
    terms.plan.balls[m] = charter.model.box * std::sqrt(static_cast<double>(terms.columns[m]));
  return privacy::Gaussian::make(std::ceil(terms.noise.variance() / 2));
}

/// V-A: `step` is rho, and what a party aims at is cut to the largest score of a whole record.
Result<learn::NoisySharingPlan> noisy_plan(const Charter& charter, const learn::JointPlan& plan) {
  if (!(charter.model.l2 > 0))
    return bad("model.l2", "must be above 0 for rule noisy_sharing, which its bound divides by",
               "For example l2 = 0.001.");
  const double momentum = charter.protocol.as<charter::Vertical>()->momentum;
  if (momentum > 0)
    return not_available("protocol.momentum", shortest(momentum),
                         "ADMM has none: leave momentum out.");
  return learn::NoisySharingPlan{.rows = plan.rows,
                                 .lam = charter.model.l2 * static_cast<double>(plan.rows),
                                 .rho = charter.protocol.step,
                                 .row_norms = plan.row_norms,
                                 .balls = plan.balls,
                                 .target_clip = plan.row_norm() * plan.model_norm(),
                                 .fraction = plan.fraction};
}

/// Refused beforehand: stopping at a step whose error exceeds what the sensitivity allows would
/// tell something about the records.
Result<void> check_rounding(const learn::NoisySharingPlan& plan,
                            const std::vector<size_t>& columns) {
  for (size_t m = 0; m < columns.size(); ++m)
    if (!(plan.rounding(m, columns[m]) <= plan.tolerance(m)))
      return bad("owner.rows",
                 "are so many, or model.l2 so small, that rounding in a step of rule "
                 "noisy_sharing cannot be bounded",
                 "Take rule = \"gradients\".");
  return {};
}

Result<void> check_cell(const data::Column& column) {
  if (column.kind == data::Column::Kind::kNumber) return {};
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    return bad("column", "\"" + column.name + "\" " + what, hint);
  };
  if (column.encode != data::Column::Encode::kOneHot)
    return wrong("has encode = \"integer\", which is not available without a dealer",
                 "Take encode = \"one_hot\", or kind = \"number\".");
  const size_t levels = column.levels.size() + column.other;
  if (levels >= 2 && levels <= learn::kMostLevels) return {};
  return wrong("has " + std::to_string(levels) + " levels, not 2 to " +
                   std::to_string(learn::kMostLevels) + ", with `other` counted",
               "Join levels, or leave the column out.");
}

Result<void> check_cells(const Charter& charter) {
  for (const data::Column& column : charter.schema.columns) TRY(check_cell(column));
  return {};
}

/// R_m of an owner's part, where a feature's largest value is 1.
double cell_norm(const data::Schema& part, int bits) {
  double squares = part.bias ? std::ldexp(1, 2 * bits) : 0;
  for (const data::Column& column : part.columns) squares += learn::largest_square(column);
  return std::ldexp(std::sqrt(squares), -bits);
}

/// R in units, by the cells. Rounded up by less than 2^-40, which moments_units adds.
double cell_row_norm(const learn::JointPlan& plan) {
  return std::ldexp(plan.row_norm(), plan.bits);
}

/// D of moments_reach in units, rounded up.
double moments_units(const learn::JointPlan& plan) {
  return std::ceil(learn::moments_reach<L2>(cell_row_norm(plan), plan.label) * (1 + 0x1p-40));
}

/// Sums of products, and the noise of both owners, modulo 2^56.
Result<void> check_words(const learn::JointPlan& plan, double deviation) {
  const double sum = static_cast<double>(plan.rows) * cell_row_norm(plan) * plan.label;
  if (sum + 12 * std::sqrt(2.0) * deviation < 0x1p55) return {};
  return bad("records.count", "the sums of so many records do not fit 56 bits",
             "Use fewer records, or fewer bits of columns.");
}

Result<void> check_setup(const VerticalTerms& terms) {
  const double bytes = setup_bytes(terms);
  if (bytes <= kSetupBytesMax) return {};
  return bad("records.count",
             "and columns make owners send each other " +
                 std::to_string(static_cast<uint64_t>(bytes / 1e9)) +
                 " GB before anything is opened, more than " +
                 std::to_string(static_cast<uint64_t>(kSetupBytesMax / 1e9)),
             "Use fewer records, levels or bits, or take dealer = \"learner\".");
}

/// At least twice the smallest variance, since noise off the diagonal has half of it.
Result<privacy::Gaussian> moments_noise(double sensitivity, privacy::Rho rho) {
  const auto noise = TRY(privacy::Gaussian::calibrate(sensitivity, 1, rho));
  return privacy::Gaussian::make(std::max(noise.variance(), 2 * privacy::Gaussian::kVarianceMin));
}

/// What is released without a dealer.
struct CellRelease {
  learn::LabelGrid label;
  double sensitivity = 0;
  privacy::Gaussian noise;  // that an owner adds
  std::optional<learn::BoxGradient> grid{};
  std::optional<privacy::GaussianShare> shares{};
};

/// Rule statistics.
Result<CellRelease> moments_release(const Charter& charter, learn::JointPlan& plan) {
  const learn::LabelGrid label = learn::label_grid(charter.schema.target, cell_row_norm(plan));
  if (label.bits > learn::kMostBits)
    return bad("target.bounds",
               "need a label of " + std::to_string(label.bits) +
                   " bits beside such long rows, more "
                   "than " +
                   std::to_string(learn::kMostBits),
               "Use fewer bits, or smaller weights, of columns.");
  plan.label = label.largest();
  const double sensitivity = moments_units(plan);
  const auto noise = TRY(moments_noise(sensitivity, TRY(smallest_rho(charter))));
  TRY(check_words(plan, noise.scale()));
  return CellRelease{label, sensitivity, noise};
}

Result<learn::BoxGradient> checked_grid(const Charter& charter) {
  const learn::BoxGradient grid = box_gradient(charter);
  if (grid.kappa >= learn::kLeastKappa) return grid;
  return bad("protocol.model_bits",
             "makes steps so wide within model.box that a label is " + std::to_string(grid.kappa) +
                 " of them, fewer than " + std::to_string(learn::kLeastKappa),
             "Use more model_bits, or a smaller box.");
}

/// Rule gradients: what one owner adds, or a share of it, to all numbers of all owners' gradients.
Result<CellRelease> box_release(const Charter& charter, learn::JointPlan& plan) {
  const learn::BoxGradient grid = TRY(checked_grid(charter));
  const auto parties = static_cast<uint32_t>(charter.owners.size());
  const auto rounds = static_cast<uint32_t>(charter.protocol.rounds);
  const int64_t colluders = colluders_of(charter);
  if (colluders >= parties)
    return bad("protocol.colluders",
               "are " + std::to_string(colluders) + " of " + std::to_string(parties) +
                   " owners: nobody is left whose noise they do not know",
               "Use at most one less than there are owners.");
  const uint32_t honest = parties - static_cast<uint32_t>(colluders);
  const privacy::Rho rho = TRY(smallest_rho(charter));
  CellRelease release{grid.label, grid.sensitivity(),
                      TRY(privacy::Gaussian::calibrate(grid.sensitivity(), rounds, rho)), grid};
  if (honest > 1) {
    const auto sum = TRY(privacy::Parties::make(parties, parties, parties - honest));
    release.shares = TRY(privacy::GaussianShare::calibrate(release.sensitivity, rounds, rho, sum,
                                                           charter.schema.features().size()));
    release.noise = TRY(privacy::Gaussian::make(release.shares->variance()));
  }
  if (!grid.fits(release.noise.scale() * std::sqrt(double(parties))))
    return bad("records.count", "the sums of so many records do not fit 56 bits",
               "Use fewer records, model_bits, or bits of columns.");
  for (size_t m = 0; m < parties; ++m) plan.balls[m] = part_balls(charter)[m];
  return release;
}

/// Without a dealer: rows are cells, everything is in whole units.
Result<VerticalTerms> cell_terms(const Charter& charter) {
  TRY(check_cells(charter));
  const bool once = charter.protocol.statistics();
  learn::JointPlan plan = plan_of(charter);
  plan.bits = learn::cell_bits(charter.schema);
  for (size_t i = 0; i < charter.owners.size(); ++i)
    plan.row_norms[i] = cell_norm(part_schema(charter, i), plan.bits);
  CellRelease release = TRY(once ? moments_release(charter, plan) : box_release(charter, plan));
  VerticalTerms terms{.charter = charter.hash,
                      .rule = *charter.protocol.rule(),
                      .rounds = static_cast<uint32_t>(charter.protocol.rounds),
                      .plan = std::move(plan),
                      .steps = once ? learn::JointSteps{} : joint_steps(charter),
                      .loss = charter::loss_of(charter.model),
                      .l2 = charter.model.l2,
                      .box = charter.model.box,
                      .intersect = charter.records->on_mismatch == charter::OnMismatch::kIntersect,
                      .list_max = charter.records->longest_list(),
                      .sensitivity = release.sensitivity,
                      .noise = release.noise,
                      .grid = release.grid,
                      .shares = release.shares};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const auto own = holds_label(charter, i) ? std::optional(release.label) : std::nullopt;
    terms.cells.emplace_back(part_schema(charter, i), terms.plan.bits, own);
    terms.columns.push_back(terms.cells.back().features());
    if (own) terms.label_holder = i;
  }
  if (once) terms.beside = TRY(open_moments(charter, terms));
  TRY(check_setup(terms));
  return terms;
}

}  // namespace

namespace {

/// Of two owners, for one record.
double pair_bytes(const learn::CellColumns& one, const learn::CellColumns& other) {
  constexpr double kTests = 5, kWord = 8, kString = 16;
  double a_record = 0;
  for (const auto& [receiver, sender] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    const auto transfers = static_cast<double>(learn::transfers_of(receiver->cells()));
    const auto cells = static_cast<double>(receiver->cells().size());
    a_record += kString * transfers + 2 * kString * (transfers - cells);
  }
  const auto words = [&](const learn::CellColumns& receiver, const learn::CellColumns& sender) {
    return kWord * (static_cast<double>(receiver.cells().size() * sender.columns()) +
                    kTests * static_cast<double>(sender.cells().size()));
  };
  return a_record + std::min(words(one, other), words(other, one));
}

/// Transfers of a round in which this owner chooses, with one other.
double bits_of(const VerticalTerms& terms, size_t owner) {
  return terms.grid ? static_cast<double>(terms.columns[owner]) * terms.grid->bits : 0;
}

}  // namespace

double round_bytes(const VerticalTerms& terms) {
  constexpr double kWord = 8, kShortWord = 7;
  double bytes = 0;
  for (size_t m = 0; m < terms.columns.size(); ++m)
    for (size_t k = 0; k < terms.columns.size(); ++k) {
      const auto width = static_cast<double>(terms.columns[m]);
      if (k != m) bytes += bits_of(terms, k) * (1. / 8 + kWord * width) + kShortWord * width;
    }
  return bytes;
}

double setup_bytes(const VerticalTerms& terms) {
  constexpr double kTransfer = 16;
  double a_record = 0, pool = 0;
  for (size_t m = 0; m < terms.cells.size(); ++m)
    for (size_t k = m + 1; k < terms.cells.size(); ++k) {
      a_record += pair_bytes(terms.cells[m], terms.cells[k]);
      pool += kTransfer * terms.rounds * (bits_of(terms, m) + bits_of(terms, k));
    }
  return a_record * static_cast<double>(terms.plan.rows) + pool;
}

privacy::Cost VerticalTerms::cost() const {
  return shares ? shares->cost(sensitivity) : noise.cost(sensitivity);
}

std::string VerticalTerms::event() const {
  return shares ? shares->event(sensitivity) : noise.event(sensitivity);
}

double VerticalTerms::deviation() const {
  return noise.scale() * (grid ? std::sqrt(static_cast<double>(columns.size())) : 1);
}

learn::PartyDescent VerticalTerms::descent(size_t owner) const {
  if (!grid) return {steps, columns[owner], plan.balls[owner]};
  return {steps, columns[owner], plan.balls[owner], grid->box};
}

learn::MomentsFit VerticalTerms::fit() const {
  learn::MomentsFit fit{l2, box, noise.scale()};
  if (cells.empty()) return fit;
  // v/2 beside the diagonal of an owner's own products, v in those of both: the mean over all.
  double all = 0, squares = 0;
  for (const size_t each : columns) {
    const auto width = static_cast<double>(each);
    all += width, squares += width * width;
  }
  fit.beside = std::sqrt(1 - squares / (2 * all * all));
  return fit;
}

size_t VerticalTerms::numbers(size_t owner) const {
  if (noisy) return plan.rows;
  return beside ? learn::MomentsLayout(columns, label_holder).size() : columns[owner];
}

bool holds_label(const Charter& charter, size_t owner) {
  return charter.owners[owner].name == charter.target_owner;
}

data::Schema part_schema(const Charter& charter, size_t owner) {
  data::Schema schema;
  for (size_t i = 0; i < charter.schema.columns.size(); ++i)
    if (charter.column_owners[i] == charter.owners[owner].name)
      schema.columns.push_back(charter.schema.columns[i]);
  schema.target = charter.schema.target;
  schema.bias = charter.schema.bias && holds_label(charter, owner);
  return schema;
}

int64_t colluders_of(const Charter& charter) {
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  const int64_t given = vertical != nullptr ? vertical->colluders : 0;
  return given > 0 ? given : static_cast<int64_t>(charter.owners.size()) - 1;
}

double row_norm_of(const Charter& charter) {
  learn::JointPlan plan;
  for (const charter::Owner& owner : charter.owners) plan.row_norms.push_back(owner.max_row_norm);
  return plan.row_norm();
}

double label_reach(const Charter& charter) {
  if (!charter.protocol.without_dealer()) return 1;
  const int bits = learn::cell_bits(charter.schema);
  const double row = std::ldexp(row_norm_of(charter), bits);
  return std::ldexp(learn::label_grid(charter.schema.target, row).largest(), -bits);
}

learn::BoxGradient box_gradient(const Charter& charter) {
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  check(vertical != nullptr && charter.protocol.without_dealer());
  return learn::BoxGradient::of(charter.schema, charter.model.box,
                                static_cast<int>(vertical->model_bits), charter.owners.size(),
                                static_cast<uint64_t>(charter.records->count));
}

std::vector<double> part_balls(const Charter& charter) {
  const double whole = row_norm_of(charter);
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  const double ball = vertical ? vertical->model_ball : 0;  // ADMM has no bound.
  const bool box = charter.protocol.without_dealer() && !charter.protocol.statistics();
  std::vector<double> balls;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const auto features = static_cast<double>(part_schema(charter, i).features().size());
    balls.push_back(box ? charter.model.box * std::sqrt(features)
                        : ball * charter.owners[i].max_row_norm / whole);
  }
  return balls;
}

learn::JointSteps joint_steps(const Charter& charter) {
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  check(vertical != nullptr);
  const int64_t rounds = charter.protocol.rounds;
  const bool tail = vertical->average == charter::Average::kTail;
  return {.step = charter.protocol.step,
          .momentum = vertical->momentum,
          .l2 = charter.model.l2 / 2,
          .rounds = rounds,
          .averaged = tail ? std::max<int64_t>(1, rounds / 4) : 1};
}

Result<learn::JointPlan> columns_plan(const Charter& charter) {
  TRY(check_columns(charter));
  learn::JointPlan plan = plan_of(charter);
  TRY(check_norms(charter, plan));
  return plan;
}

Result<VerticalTerms> vertical_terms(const Charter& charter) {
  TRY(charter::check_protects(charter));
  TRY(check_columns(charter));
  if (charter.protocol.without_dealer()) return cell_terms(charter);
  learn::JointPlan plan = TRY(columns_plan(charter));
  const auto rounds = static_cast<uint32_t>(charter.protocol.rounds);
  const auto rho = TRY(smallest_rho(charter));
  const bool moments = charter.protocol.statistics();
  auto noise = TRY(fit(plan, rounds, rho, moments));
  TRY(check_norms(charter, plan));
  double sensitivity = moments ? learn::moments_sensitivity(plan) : plan.sensitivity();
  std::optional<learn::NoisySharingPlan> noisy;
  if (charter.protocol.rule() == charter::Rule::kNoisySharing) {
    noisy = TRY(noisy_plan(charter, plan));
    sensitivity = noisy->sensitivity();
    noise = TRY(privacy::Gaussian::calibrate(sensitivity, rounds, rho));
  }
  VerticalTerms terms{.charter = charter.hash,
                      .rule = charter.protocol.as<charter::Vertical>()->rule,
                      .rounds = rounds,
                      .plan = std::move(plan),
                      .steps = joint_steps(charter),
                      .loss = charter::loss_of(charter.model),
                      .l2 = charter.model.l2,
                      .box = charter.model.box,
                      .intersect = charter.records->on_mismatch == charter::OnMismatch::kIntersect,
                      .sensitivity = sensitivity,
                      .noise = noise,
                      .noisy = std::move(noisy)};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    terms.columns.push_back(part_schema(charter, i).features().size());
    if (holds_label(charter, i)) terms.label_holder = i;
  }
  if (terms.noisy) TRY(check_rounding(*terms.noisy, terms.columns));
  if (moments) terms.beside = TRY(open_moments(charter, terms));
  return terms;
}

Result<double> sharing_epsilon(const charter::Charter& charter, const VerticalTerms& terms,
                               size_t owner) {
  double rho = 0;
  const double cost = terms.cost().amount;
  for (uint32_t round = 0; round < terms.rounds; ++round) rho = add_up(rho, cost);
  return epsilon_of(rho, charter.owners[owner].delta);
}

}  // namespace parley::plan
