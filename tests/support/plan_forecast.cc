// What is said before a job, as golden text: the explanation, the forecaster's noise, and the
// scales of the papers' own calibration.
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/plan/explain.h"
#include "parley/plan/noise.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/terms.h"
#include "parley/plan/vertical_terms.h"
#include "studies/paper/async.h"
#include "studies/paper/sync.h"
#include "support/plan_print.h"

namespace parley::test {
namespace plan_forecast {

using charter::Charter, charter::ProtocolName;

/// How far a record reaches; of local steps only where they are allowed.
void add_reach(PlanText& out, const Charter& charter) {
  out.add("label_bound", plan::label_bound(charter.schema.target));
  out.add("paid_answers", plan::paid_answers(charter));
  out.add("by_record", charter.protocol.by_record());
  if (charter.protocol.name() == ProtocolName::kSharing)
    out.add("row_norm", plan::row_norm_of(charter));
  if (charter.protocol.name() != ProtocolName::kFederated)
    return out.add("reach", plan::reach_of(charter));
  const auto update = plan::local_update(charter, {});
  add_result(out, "local_update", update, [&](PlanText& part, const learn::LocalUpdate& known) {
    part.add("step", known.plan().step);
    part.add("delay", known.plan().delay);
    part.add("sensitivity", known.sensitivity());
    part.add("smoothness", known.smoothness());
    part.add("reach", plan::reach_of(charter));
  });
}

void print_law(PlanText& out, const Charter& charter, const plan::NoiseLaw& law) {
  out.add("mechanism", name_of(law.mechanism));
  out.add("unit_records", law.unit_records);
  out.add("overlap", law.overlap);
  out.add("training", law.training);
  out.add("surplus", law.surplus);
  out.add("power", law.power());
  const std::vector<double> strengths = law.strengths(charter.owners);
  out.add_detail("strengths", strengths);
  std::vector<double> variances, epsilons;
  for (size_t i = 0; i < strengths.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    epsilons.push_back(law.epsilon(strengths[i], owner.delta));
    variances.push_back(law.variance(owner, plan::paid_answers(charter), 3));
  }
  out.add_detail("epsilons", epsilons);
  out.add_detail("variances at clip 3", variances);
}

void print_job(PlanText& out, const forecast::Job& job) {
  out.add_detail("weights", job.weights);
  out.add_detail("variances", job.variances);
  out.add_detail("strengths", job.strengths);
  out.add("strictest", job.strictest);
  out.add("variance", job.variance());
  if (const auto* shared = std::get_if<forecast::VerticalJob>(&job.kind)) {
    out.add("balls", shared->balls);
    out.add("l2", shared->steps.l2);
    out.add("averaged", shared->steps.averaged);
  }
  if (const auto* once = std::get_if<forecast::StatisticsJob>(&job.kind)) {
    out.add("row_norm", once->row_norm);
    out.add("label", once->label);
    out.add("label_weight", once->label_weight);
  }
  if (const auto* local = std::get_if<forecast::FederatedJob>(&job.kind))
    out.add("limit", local->limit);
}

sim::SimulateInput made_input(const Charter& charter) {
  const auto rows = made_rows(charter.schema, 20);
  sim::SimulateInput input{.charter = charter, .owners = {}, .pilot = rows, .policies = {}};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    input.owners.push_back({data::AnyRows(rows), "made"});
  return input;
}

template <class Paper>
std::vector<double> scales_of(const Paper& paper, size_t owners) {
  std::vector<double> scales;
  for (size_t i = 0; i < owners; ++i) scales.push_back(paper.noise_scale(i));
  return scales;
}

}  // namespace plan_forecast

void print_explanation(PlanText& out, const charter::Charter& charter) {
  const std::string text = plan::explain(charter);
  size_t line = 0, part = 0, priced = 0;  // Owners' prices are indented; of all but one: details.
  bool detail = false;
  for (size_t begin = 0; begin < text.size();) {  // Parts end with ". ", "; ", or their line.
    size_t end = begin;
    const auto ends = [&](char c) { return text[end] == c && text[end + 1] == ' '; };
    while (text[end] != '\n' && !ends('.') && !ends(';')) ++end;
    const std::string words = text.substr(begin, end - begin);
    if (part == 0) detail = words.starts_with("SHA-256") || (words[0] == ' ' && priced++ > 0);
    const std::string key = "explain." + std::to_string(line) + "." + std::to_string(part++);
    detail ? out.add_detail(key, words) : out.add(key, words);
    if (text[end] == '\n') ++line, part = 0;
    begin = end + (text[end] == '\n' ? 1 : 2);
  }
}

void print_forecast(PlanText& out, const charter::Charter& charter,
                    const std::shared_ptr<const data::Rows>& pilot) {
  using namespace plan_forecast;
  if (charter.complete()) add_reach(out, charter);
  add_result(out, "law", plan::NoiseLaw::of(charter),
             [&](PlanText& part, const auto& law) { print_law(part, charter, law); });
  if (!charter.complete() || charter.privacy.calibration != charter::Calibration::kSound) return;
  const auto rows = pilot ? pilot : made_rows(charter.schema, 150);
  const forecast::PilotStatistics statistics = forecast::statistics_of(charter.model, rows);
  add_result(out, "forecast", forecast::job_of(charter, statistics), print_job);
}

void print_paper(PlanText& out, const charter::Charter& charter) {
  using namespace plan_forecast;
  const sim::SimulateInput input = made_input(charter);
  const size_t owners = charter.owners.size();
  if (charter.protocol.name() == charter::ProtocolName::kSync)
    add_result(out, "paper", paper::Sync::make(input, 1),
               [&](PlanText& part, const paper::Sync& paper) {
                 part.add("answers", paper.answers());
                 part.add("scales", scales_of(paper, owners));
                 for (size_t i = 0; i < owners; ++i)
                   part.add("weight." + std::to_string(i), paper.weight(i));
               });
  if (charter.protocol.name() == charter::ProtocolName::kAsync)
    add_result(out, "paper", paper::Async::make(input, 1),
               [&](PlanText& part, const paper::Async& paper) {
                 part.add("scales", scales_of(paper, owners));
                 part.add("step", paper.rule().step);
               });
}

std::shared_ptr<const data::Rows> made_rows(const data::Schema& schema, size_t count) {
  auto rows = std::make_shared<data::Rows>(schema.features().size());
  uint64_t state = 1;
  const auto next = [&] {  // Knuth's MMIX generator; a whole number of 2^-16.
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 47) * 0x1p-16 - 1;
  };
  std::vector<double> row(rows->columns());
  for (size_t i = 0; i < count; ++i) {
    for (double& value : row) value = next();
    const double label = (row.front() - row.back() / 2 + next()) / 4;
    rows->add(row, schema.target.levels.empty() ? label : label > 0 ? 1 : -1);
  }
  return rows;
}

PlanText plan_of(const charter::Charter& charter, const std::shared_ptr<const data::Rows>& pilot) {
  PlanText out;
  out.add_detail("hash", charter.hash);
  std::string undecided;
  for (const std::string& key : charter.undecided) undecided += " " + key;
  out.add("undecided", charter.undecided.empty() ? "nothing" : undecided.substr(1));
  out.add_detail("answers", charter.answers());
  out.add("jobs", charter.jobs());
  const bool columns = charter.protocol.name() == charter::ProtocolName::kSharing;
  if (columns) {
    print_sharing_terms(out, charter);
  } else {
    charter.secure_aggregation ? print_share_plan(out, charter) : print_owner_terms(out, charter);
    print_paid_moments(out, charter);
    add_result(out, "evaluation_map", plan::evaluation_map(charter),
               [](PlanText& part, const auto& map) {
                 part.add_detail("exists", map.has_value());
                 if (map) part.add_detail("bound", map->bound());
               });
  }
  print_learner(out, charter, pilot.get());
  print_forecast(out, charter, pilot);
  if (charter.privacy.calibration == charter::Calibration::kPaper) print_paper(out, charter);
  print_explanation(out, charter);
  return out;
}

}  // namespace parley::test
