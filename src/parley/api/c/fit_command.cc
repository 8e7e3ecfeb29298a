// The command "fit": a model of one table with differential privacy.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "parley/api/c/commands.h"
#include "parley/api/fit/fit.h"

namespace parley::api {
namespace {

using Json = nlohmann::ordered_json;

/// A pair of numbers.
Result<void> take_pair(Call& call, std::string_view key, std::array<double, 2>& pair) {
  if (!call.has(key)) return {};
  std::vector<double> numbers;
  TRY(call.take(key, numbers));
  if (numbers.size() != 2) return call.arguments().error(key, "must be two numbers");
  pair = {numbers[0], numbers[1]};
  return {};
}

/// "lower" and "upper", one number for each feature.
Result<void> take_bounds(Call& call, FitSettings& fit) {
  std::vector<double> lower, upper;
  TRY(call.take("lower", lower));
  TRY(call.take("upper", upper));
  if (lower.empty() || lower.size() != upper.size())
    return call.arguments().error(
        "lower", "and upper must be given, as many numbers each as there are features");
  for (size_t j = 0; j < lower.size(); ++j) fit.bounds.push_back({lower[j], upper[j]});
  return {};
}

Result<FitSettings> settings_of(Call& call) {
  FitSettings fit;
  TRY(call.take("loss", fit.loss));
  TRY(call.take("huber_delta", fit.huber_delta));
  TRY(call.take("epsilon", fit.epsilon));
  TRY(call.take("delta", fit.delta));
  TRY(take_bounds(call, fit));
  TRY(take_pair(call, "target_bounds", fit.target_bounds));
  TRY(take_pair(call, "class_weights", fit.class_weights));
  TRY(call.take("target", fit.target));
  TRY(call.take("intercept", fit.intercept));
  TRY(call.take("l2", fit.l2));
  TRY(call.take("max_row_norm", fit.max_row_norm));
  TRY(call.take("max_grad_norm", fit.max_grad_norm));
  TRY(call.take("step", fit.step));
  TRY(call.take("rounds", fit.rounds));
  return fit;
}

/// All columns but the target, in their order. Their names go into a charter.
Result<void> take_columns(const data::Cells& cells, FitSettings& fit) {
  for (const std::string& name : cells.names()) {
    const auto odd = [](char c) {
      return !(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-');
    };
    if (name.empty() || std::find_if(name.begin(), name.end(), odd) != name.end())
      return Error{Code::kInvalid, "names of columns are made of letters, digits, '-' and '_'",
                   "Rename the columns of the table."};
    if (name != fit.target) fit.columns.push_back(name);
  }
  if (fit.columns.size() == cells.names().size())
    return Error{Code::kInvalid, "the table has no column " + fit.target, "Name the target."};
  return {};
}

}  // namespace

Result<Json> fit_table(Call& call) {
  TRY(call.only({"table",         "target",    "public", "loss",          "huber_delta",
                 "epsilon",       "delta",     "lower",  "upper",         "target_bounds",
                 "class_weights", "intercept", "l2",     "max_grad_norm", "step",
                 "rounds",        "seed",      "ledger", "dataset",       "threads",
                 "max_row_norm"}));
  const OnProgress said = call.heard();
  FitInput input{.settings = TRY(settings_of(call)), .go_on = [&](uint64_t done, uint64_t total) {
                   said(done, total);
                   return !call.stop().stop_requested();
                 }};
  std::string table = "records", pilot;
  TRY(call.take("table", table));
  TRY(call.take("public", pilot));
  TRY(call.take("seed", input.seed));
  TRY(call.take("ledger", input.ledger));
  TRY(call.take("dataset", input.dataset));
  TRY(call.take("threads", input.threads));
  input.records = TRY(call.tables().find(table));
  if (!pilot.empty()) input.pilot = TRY(call.tables().find(pilot));
  TRY(take_columns(*input.records, input.settings));
  const Fitted found = TRY(fit(input));
  Json said_model = Json::parse(learn::to_json(found.model), nullptr, false);
  return Json{{"model", std::move(said_model)},
              {"coefficients", found.coefficients},
              {"intercept", found.intercept},
              {"private", found.model.card.is_private},
              {"charter", found.files.charter},
              {"bundle", found.files.bundle},
              {"pilot", found.pilot}};
}

}  // namespace parley::api
