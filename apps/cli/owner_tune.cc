// parley owner tune POLICY CHARTER TRANSCRIPT
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/net/tune.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const net::Tuned& tuned) {
  if (tuned.published)
    return fmt::format(
        "{}: tuned, noisy and paid for with epsilon {:.6g}: may be published\nmodel       {}\n"
        "transcript  {}\n",
        tuned.charter_name, tuned.epsilon_spent, tuned.file.string(), tuned.transcript.string());
  return fmt::format("{}: NOT PRIVATE, made of your exact rows: keep it and its predictions\n{}\n",
                     tuned.charter_name, tuned.file.string());
}

}  // namespace

Result<Output> run(const OwnerTuneOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const charter::Charter charter = TRY(charter::read_charter(options.charter));
  SystemClock clock;
  SystemEntropy entropy;
  const net::TuneOptions files{.transcript = options.transcript, .out = options.out};
  const net::Tuned tuned = TRY(net::tune(policy, charter, files, entropy, clock));
  const Json json{{"parley", report::provenance()},
                  {"charter", to_hex(charter.hash)},
                  {"name", tuned.charter_name},
                  {"model", tuned.file.string()},
                  {"published", tuned.published},
                  {"transcript", tuned.published ? Json(tuned.transcript.string()) : Json()},
                  {"epsilon_spent", tuned.epsilon_spent}};
  return Output{text_of(tuned), json.dump(2) + "\n"};
}

}  // namespace parley::cli
