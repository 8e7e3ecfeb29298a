// Commands of whole jobs: what one would be worth, one in this process, and what comes out.
#include <nlohmann/json.hpp>

#include "parley/api/c/commands.h"
#include "parley/api/internal.h"
#include "parley/api/owner_value.h"
#include "parley/api/predict.h"
#include "parley/api/simulate.h"
#include "parley/base/files.h"
#include "parley/forecast.h"
#include "parley/report/forecast/no_pilot.h"

namespace parley::api {
namespace {

using Json = nlohmann::ordered_json;

Result<std::optional<GeneratedData>> generated(Call& call) {
  if (!call.has("standin")) return std::optional<GeneratedData>();
  GeneratedData data;
  TRY(call.take("standin", data.name));
  TRY(call.take("standin_seed", data.seed));
  return std::optional(data);
}

Result<ForecastOptions> forecast_options(Call& call) {
  ForecastOptions options{.generated = TRY(generated(call)), .progress = call.leaving()};
  if (!call.has("public")) TRY(call.take("folder", options.folder));
  TRY(call.take("tune", options.tune));
  TRY(call.take("target", options.target));
  TRY(call.take("delta", options.delta));
  TRY(call.take("differ", options.differ));
  TRY(call.take("distance", options.distance));
  TRY(call.take("worth", options.worth));
  TRY(call.take("log_loss", options.log_loss));
  TRY(call.take("protocols", options.protocols));
  TRY(call.take("threads", options.threads));
  return options;
}

/// Rule gram is not forecast: only its noise is known.
Result<Json> without_pilot(const Charter& charter) {
  const report::NoPilot said = TRY(report::without_pilot(charter.internal().charter));
  return answer(report::to_json(said), report::to_text(said));
}

Result<SimulateOptions> simulate_options(Call& call) {
  SimulateOptions options{.progress = call.leaving(), .judging = call.heard()};
  uint64_t runs = 1;
  TRY(call.take("seed", options.seed));
  TRY(call.take("runs", runs));
  if (runs < 1 || runs > 1'000'000)
    return call.arguments().error("runs", "must lie between 1 and 1e6");
  options.runs = runs;
  TRY(call.take("held_out", options.held_out));
  TRY(call.take("worth", options.worth));
  TRY(call.take("log_loss", options.log_loss));
  TRY(call.take("baseline", options.baseline));
  TRY(call.take("continue_after_alarm", options.continue_after_alarm));
  TRY(call.take("out", options.out));
  TRY(call.take("threads", options.threads));
  return options;
}

/// Tables by the owners' names, a stand-in, or a folder of files.
Result<Simulation> simulated(Call& call, const Charter& charter, const SimulateOptions& options) {
  if (const auto data = TRY(generated(call))) return simulate(charter, *data, options, nullptr);
  if (call.has("data")) {
    std::filesystem::path folder;
    TRY(call.take("data", folder));
    return simulate(charter, OwnerFolder{folder}, options, nullptr);
  }
  OwnerCells cells;
  for (const CharterOwner& owner : charter.owners())
    cells.tables[owner.name] = TRY(call.tables().find(owner.name));
  return simulate(charter, cells, options);
}

/// At rows that a policy says where to find, or at a table.
Result<report::OwnerLook> looked(Call& call, const OwnerLookOptions& options) {
  const charter::Charter charter = TRY(call.charter()).internal().charter;
  if (call.has("policy") == call.has("table"))
    return Error{Code::kInvalid, "give either policy, a file, or table and owner", ""};
  if (call.has("policy")) {
    std::filesystem::path policy;
    TRY(call.take("policy", policy));
    return look_at_value(TRY(charter::read_policy(policy)), charter, options);
  }
  OwnTable own;
  std::string table;
  TRY(call.take("table", table));
  TRY(call.take("owner", own.owner));
  TRY(call.take("threads", own.threads));
  own.rows = TRY(call.tables().find(table));
  return look_at_value(own, charter, options);
}

}  // namespace

Result<Json> forecast_job(Call& call) {
  TRY(call.only({"charter", "charter_file", "folder", "set", "public", "standin", "standin_seed",
                 "tune", "target", "delta", "differ", "distance", "worth", "log_loss", "protocols",
                 "threads", "html"}));
  const Charter charter = TRY(call.charter());
  if (charter.internal().charter.protocol.rule() == charter::Rule::kGram)
    return without_pilot(charter);
  const ForecastOptions options = TRY(forecast_options(call));
  const Forecast found = TRY(make_forecast(charter, options));
  Json said = answer(found.to_json(), found.to_text());
  said["charter"] = found.charter_text();
  said["bundle"] = found.bundle_text();
  bool html = false;
  TRY(call.take("html", html));
  if (html) said["html"] = found.to_html();
  return said;
}

Result<Json> simulate_job(Call& call) {
  TRY(call.only({"charter", "charter_file", "folder", "set", "public", "data", "standin",
                 "standin_seed", "seed", "runs", "held_out", "worth", "log_loss", "baseline",
                 "continue_after_alarm", "out", "threads"}));
  const Charter charter = TRY(call.charter());
  SimulateOptions options = TRY(simulate_options(call));
  std::optional<TemporaryFolder> scratch;  // The model's file, where nobody wants to keep it.
  if (options.out.empty()) options.out = scratch.emplace(TRY(TemporaryFolder::make())).path();
  const Simulation found = TRY(simulated(call, charter, options));
  Json said = answer(found.to_json(), found.to_text());
  if (!found.model_file().empty()) said["model"] = TRY(read_file(found.model_file()));
  if (scratch && said["result"].is_object()) said["result"].erase("model");
  return said;
}

Result<Json> owner_value(Call& call) {
  TRY(call.only({"policy", "owner", "table", "threads", "charter", "charter_file", "folder", "set",
                 "public", "model", "out", "held_out", "seed", "worth", "own_columns"}));
  OwnerLookOptions options;
  TRY(call.take("model", options.model));
  TRY(call.take("out", options.out));
  TRY(call.take("held_out", options.held_out));
  TRY(call.take("seed", options.seed));
  TRY(call.take("worth", options.worth));
  TRY(call.take("own_columns", options.own_columns));
  if (!(options.held_out > 0 && options.held_out <= .5))
    return call.arguments().error("held_out", "must lie between 0 and 0.5");
  const auto found = TRY(looked(call, options));
  return answer(report::to_json(found), report::to_text(found));
}

Result<Json> predict_table(Call& call) {
  TRY(call.only({"model", "model_file", "table"}));
  std::string text, table;
  std::filesystem::path file;
  TRY(call.take("model", text));
  TRY(call.take("model_file", file));
  TRY(call.take("table", table));
  const Model model = TRY(file.empty() ? Model::parse(text) : Model::read(file));
  const auto cells = TRY(call.tables().find(table));
  const Predictions found = TRY(predict_from(model, data::source_of(cells)));
  return answer(found.to_json(), "");
}

}  // namespace parley::api
