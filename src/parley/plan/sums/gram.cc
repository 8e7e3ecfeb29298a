#include "parley/plan/sums/gram.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "parley/base/math/noise_floor.h"
#include "parley/base/math/number.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/noise.h"
#include "parley/plan/sums/share_noise.h"

namespace parley::plan {
namespace {

using charter::Charter;

constexpr double kNoLabel = 1e-12;  // A map wants a bound above 0.

/// A ledger rounds every sum of charges up; a million roundings add less than this part.
constexpr double kRoundedUp = 0x1p-32;

/// Rounded down, so that both parts together never exceed the whole.
Result<privacy::Rho> part_of(const privacy::Rho& rho, double part) {
  return privacy::Rho::make(rho.value() * part * (1 - kRoundedUp));
}

Result<void> take_part(std::vector<privacy::Rho>& rhos, double part) {
  for (privacy::Rho& rho : rhos) rho = TRY(part_of(rho, part));
  return {};
}

/// What each owner's rho has left after `sums` sums of this cost.
Result<std::vector<privacy::Rho>> left_after(const Charter& charter, uint32_t sums,
                                             const privacy::Cost& cost) {
  std::vector<privacy::Rho> left = TRY(need_of(charter, Part::kTraining, 1, 1)).rhos;
  for (privacy::Rho& rho : left) {
    const double whole = rho.value() * (1 - kRoundedUp);
    const auto rest = privacy::Rho::make(next_down(whole - mul_up(cost.amount, sums)));
    if (!rest)
      return Error{Code::kInvalid,
                   "the " + std::to_string(sums) +
                       " sums that may come before an alarm leave nothing for a Gram matrix",
                   "Take more rounds, fewer secure_aggregation.repeats, or on_alarm = \"ask\".",
                   {.key = "protocol.on_alarm"}};
    rho = *rest;
  }
  return left;
}

Result<GramSum> gram_sum(const Charter& charter, const std::vector<privacy::Rho>& rhos) {
  auto map = TRY(gram_map(charter));
  Need need = TRY(need_of(charter, Part::kTraining, 1, map.size()));
  need.rhos = rhos;
  TRY(take_part(need.rhos, kGramShare));
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  const std::vector<double> moved(charter.owners.size(), plan::sensitivity(map, records));
  const auto mechanism = TRY(mechanism_for(charter, need, moved));
  return GramSum{std::move(map), records, need.answers, mechanism};
}

/// At least rule gram's clip: rows unlike the pilot's may have longer gradients.
double clip_after_alarm(const Charter& charter) {
  return std::fmax(charter.privacy.max_grad_norm, charter::gram_clip(charter));
}

Result<AfterAlarm> after_alarm(const Charter& charter, const std::vector<privacy::Rho>& rhos,
                               uint32_t before) {
  const size_t columns = charter.schema.features().size();
  const auto lattice = TRY(learn::Lattice::make(
      clip_after_alarm(charter), static_cast<int>(charter.privacy.grid_bits), columns));
  Need need = TRY(need_of(charter, Part::kTraining, kAfterAlarmRounds, columns));
  need.rhos = rhos;
  for (privacy::Rho& rho : need.rhos) rho = TRY(after_gram(rho));
  const GradientSum sum{charter::loss_of(charter.model), lattice, 0,
                        static_cast<uint32_t>(charter.privacy.unit_records)};
  const std::vector<double> moved(charter.owners.size(), sum.sensitivity());
  const auto mechanism = TRY(mechanism_for(charter, need, moved));
  return AfterAlarm{sum, need.answers, before, mechanism};
}

double rows_of(const Charter& charter) {
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  return rows;
}

SumScale scale_of(const Charter& charter, double gamma, double of_record,
                  const privacy::SharedMechanisms& mechanism) {
  const double rows = rows_of(charter);
  return {gamma / rows, rows * of_record + largest_noise(charter.owners.size(), mechanism)};
}

std::string help_text(const GramHelp& help) {
  const std::string rows = grouped(static_cast<uint64_t>(std::ceil(help.rows))) + " rows";
  const bool fewer = help.columns >= 2;  // Fewer than two columns are no advice.
  return "An epsilon of " + significant(help.epsilon) + (fewer ? ", " : " or ") + rows +
         (fewer ? ", or " + grouped(static_cast<uint64_t>(help.columns)) + " columns" : "") +
         " would bring it to " + significant(kGramWarned) + ".";
}

/// The owner with the least rho, which decides the size of all shares.
const charter::Owner& strictest(const Charter& charter, const std::vector<privacy::Rho>& rhos) {
  const auto least = std::min_element(
      rhos.begin(), rhos.end(), [](const auto& a, const auto& b) { return a.value() < b.value(); });
  return charter.owners[static_cast<size_t>(least - rhos.begin())];
}

}  // namespace

Result<learn::StatisticsMap<L2>> gram_map(const Charter& charter) {
  return learn::StatisticsMap<L2>::make(charter.privacy.max_row_norm, kNoLabel,
                                        static_cast<int>(charter.privacy.grid_bits),
                                        charter.schema.features().size());
}

Result<privacy::Rho> for_gram(const privacy::Rho& rho) { return part_of(rho, kGramShare); }

Result<privacy::Rho> after_gram(const privacy::Rho& rho) {
  return part_of(rho, next_down(1 - kGramShare));
}

Result<void> plan_gram(const Charter& charter, SecaggPlan& plan) {
  if (!charter.protocol.gram()) return {};
  const bool alarm = charter.protocol.gram_after_alarm();
  const auto before = static_cast<uint32_t>(1 + charter.secure_aggregation->repeats);
  const auto rhos = TRY(alarm ? left_after(charter, before, plan.owners[0].cost())
                              : Result(TRY(need_of(charter, Part::kTraining, 1, 1)).rhos));
  const GramSum gram = TRY(gram_sum(charter, rhos));
  std::optional<AfterAlarm> after;
  if (alarm) after = TRY(after_alarm(charter, rhos, before));
  for (SecaggTerms& owner : plan.owners) {
    owner.gram = gram;
    owner.after_alarm = after;
    if (after) owner.after_alarm->sum.rows = owner.rows();
  }
  plan.gram = scale_of(charter, gram.map.lattice().gamma(), gram.map.lattice().bound<L2>() + 1,
                       gram.mechanism);  // Rounding may add 1/2.
  if (after)
    plan.after_alarm = scale_of(charter, after->sum.lattice.gamma(), after->sum.lattice.bound<L2>(),
                                after->mechanism);
  return {};
}

GramNoise gram_noise(const GramJob& job) {
  check(job.rho > 0 && job.rows > 0);
  const double square = std::numbers::sqrt2 * job.row_norm * job.row_norm;
  const double entry =
      gaussian_scale(square, (1 + job.repeats) * job.surplus, kGramShare * job.rho) / job.rows;
  return {
      .entry = entry,
      .floor = noise_floor(entry, 1, job.columns),
      .gradient = gaussian_scale(kReplaceOne * job.clip, (job.rounds + job.repeats) * job.surplus,
                                 (1 - kGramShare) * job.rho) /
                  job.rows};
}

Result<GramHelp> gram_help(const GramJob& job, double delta) {
  const double times = gram_noise(job).floor / kGramWarned;  // Falls as 1/sqrt(rho), 1/N.
  return GramHelp{.epsilon = TRY(epsilon_of(job.rho * times * times, delta)),
                  .rows = job.rows * times,
                  .columns = static_cast<double>(job.columns) / (times * times)};
}

Result<GramJob> gram_job(const Charter& charter) {
  check(charter.protocol.gram());
  auto rhos = TRY(rhos_of(charter, Part::kTraining));
  GramJob job{
      .row_norm = charter.privacy.max_row_norm *
                  std::sqrt(static_cast<double>(charter.privacy.unit_records)),
      .columns = charter.schema.features().size(),
      .rows = rows_of(charter),
      .clip = charter.privacy.max_grad_norm * static_cast<double>(charter.privacy.unit_records),
      .rounds = static_cast<double>(charter.protocol.rounds)};
  if (const auto& secure = charter.secure_aggregation) {
    job.repeats = static_cast<double>(secure->repeats);
    job.surplus = static_cast<double>(charter.owners.size()) /
                  static_cast<double>(secure->survivors - secure->colluders);
  }
  if (charter.protocol.gram_after_alarm()) {
    const SecaggPlan plan = TRY(secagg_plan(charter));
    rhos = TRY(left_after(charter, plan.owners[0].after_alarm->before, plan.owners[0].cost()));
    job.rounds = static_cast<double>(kAfterAlarmRounds);
    job.clip = clip_after_alarm(charter) * static_cast<double>(charter.privacy.unit_records);
  }
  job.rho = rhos[0].value();
  for (const privacy::Rho& rho : rhos) job.rho = std::fmin(job.rho, rho.value());
  return job;
}

Result<std::string> gram_notice(const GramJob& job, double delta) {
  const GramNoise noise = gram_noise(job);
  const std::string numbers = "Noise on means over rows: " + significant(noise.entry) +
                              " on an entry of the Gram matrix (eigenvalues below " +
                              significant(noise.floor) + " are noise), " +
                              significant(noise.gradient) + " on a gradient's coordinate.";
  if (!(noise.floor > kGramWarned)) return numbers;
  const GramHelp help = TRY(gram_help(job, delta));
  if (noise.floor < kGramRefused) return numbers + " " + help_text(help);
  return Error{Code::kInvalid,
               "the Gram matrix would be noise: eigenvalues below " + significant(noise.floor) +
                   " could not be told from it, and those of most columns are below 1",
               help_text(help)};
}

Result<std::optional<std::string>> gram_notice(const Charter& charter) {
  if (!charter.protocol.gram()) return std::optional<std::string>();
  const GramJob job = TRY(gram_job(charter));
  const auto rhos = TRY(rhos_of(charter, Part::kTraining));
  auto notice = gram_notice(job, strictest(charter, rhos).delta);
  const bool alarm = charter.protocol.gram_after_alarm();
  if (!notice) {
    Error error = notice.error();
    error.where.key = alarm ? "protocol.on_alarm" : "protocol.rule";
    return error;
  }
  return std::optional((alarm ? "After an alarm: " : "") + *std::move(notice));
}

Result<std::string> noise_notice(const Charter& charter) {
  if (charter.protocol.gram()) return *TRY(gram_notice(charter));
  const bool rows = charter.protocol.as<charter::Sync>() != nullptr;
  if (!rows || !charter.protocol.statistics() || !charter.complete()) return std::string();
  const auto plan = sync_plan(charter, nullptr);
  if (!plan || !(plan->moments->floor > kGramWarned)) return std::string();
  return "Noise on means over rows: eigenvalues of the table of products below " +
         significant(plan->moments->floor) +
         " are noise; take a larger epsilon, more rows or fewer columns.";
}

}  // namespace parley::plan
