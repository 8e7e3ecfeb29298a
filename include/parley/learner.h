// The learner of a job over the network: asks the owners round after round and writes the model.
//
//   const auto charter = parley::Charter::read("loans.charter.toml");
//   if (!charter) return 1;
//   const auto result = parley::run_learner(*charter, {.identity = "/etc/parley", .out = "run"});
//   if (result) std::cout << result->to_text();
//
// A learner has no private input: it sees noisy answers only, each signed and paid for by its
// owner. It keeps them in a transcript, by which anybody can check the model (verify.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parley/bytes.h"
#include "parley/charter.h"
#include "parley/model.h"
#include "parley/progress.h"
#include "parley/result.h"

namespace parley {

/// What the job came to. Hashes are SHA-256 of the files.
struct LearnerResult {
  struct Owner {
    std::string name;
    uint32_t answers = 0;  // its evaluation not counted
    double epsilon_spent = 0;
    double epsilon_evaluation = 0;  // part of it
  };
  std::string charter_name;
  Hash charter{}, model{}, transcript{};
  size_t rounds = 0;
  double seconds = 0;  // from the first question to the last answer of this process
  std::vector<Owner> owners{};
  std::optional<Evaluation> evaluation{};   // of the model, paid for by the owners
  std::optional<Distance> distance{};       // in place of a model, under rule "distance"
  std::optional<PilotCheck> pilot_check{};  // of the first answers, where they are tested
  bool stopped_by_alarm = false;            // of that: the model is the pilot's
  std::filesystem::path model_file{}, transcript_file{};

  std::string to_text() const;
  std::string to_json() const;
};

struct LearnerOptions {
  /// Folder with the learner's certificate NAME.crt, its key NAME.key and authority.crt, as
  /// `parley join` and `parley certs sign` make them (credentials.h).
  std::filesystem::path identity = ".";
  std::string listen{};              // host:port; empty: every interface, at the charter's port
  std::filesystem::path out{};       // journal, transcript and model; empty: runs/<charter's hash>
  std::filesystem::path receipts{};  // the newest of every owner; empty: <identity>/receipts
  /// After an alarm of the first answers that a person was asked about (kPolicy): go on, or end
  /// the job with the pilot's model.
  std::optional<bool> after_alarm{};
  std::string as{};                // where every owner learns: the owner that this learner is
  std::chrono::seconds wait{600};  // for owners, without any answer
  std::function<void(int port)> opened{};  // once it listens
  OnProgress progress{};                   // rounds
  OnLog log{};
  std::stop_token stop{};
};

/// Runs the job to its end, from where the journal in `out` ends if there is one; blocks for as
/// long as that takes. Bundle and pilot are looked for beside the charter. An owner's refusal ends
/// it with that owner's reason (kPolicy, kBudgetExhausted) unless the others are enough, as does an
/// alarm of the first answers before a person has decided (kPolicy); owners that stay away for
/// `wait` end it with kUnavailable, a stop with kFailed. Whatever ended it, the same call goes on
/// from there, and no owner pays twice for an answer.
Result<LearnerResult> run_learner(const Charter& charter, const LearnerOptions& options);

}  // namespace parley
