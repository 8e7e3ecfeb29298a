// Checks a learner: whether a model is what follows from the owners' signed answers, and what the
// owners paid.
//
//   const auto charter = parley::Charter::read("loans.charter.toml");
//   const auto result = charter ? parley::verify("model.json", "transcript.zst", *charter)
//                               : charter.error();
//   if (!result) return 1;                  // there was nothing to check
//   std::cout << result->to_text();
//   return result->holds() ? 0 : 1;
//
// The model is computed again from the transcript, bit for bit, and every epsilon is added up by
// another accountant than the ledger's. None of the files need be trusted. Only public files are
// read, unless ledgers are given.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/bytes.h"
#include "parley/charter.h"
#include "parley/model.h"
#include "parley/result.h"

namespace parley {

/// What was found. Epsilons are of one owner's whole job.
struct VerifyResult {
  struct Owner {
    std::string name{};
    size_t answers = 0;          // its evaluation included
    double epsilon = 0;          // recomputed from the events of its receipts
    double epsilon_claimed = 0;  // in its last receipt
    std::string accountant{};    // by which epsilon was added up: "basic composition", "zCDP"
    double epsilon_charter = 0;  // what it may spend on this job
    double delta_charter = 0;    // 0 without Gaussian noise; epsilon is at this delta
    std::optional<Hash> ledger_head{};  // of the ledger that was compared
  };
  /// One thing that is not what it must be.
  struct Finding {
    std::string owner{};  // empty: of the whole
    uint32_t round = 0;   // 0: of no single one
    std::string what{};
  };

  std::string charter_name{};
  Hash charter{};
  uint64_t rounds = 0;
  uint64_t answers = 0;
  std::optional<Evaluation> evaluation{};   // recomputed, too
  std::optional<Distance> distance{};       // likewise
  std::optional<PilotCheck> pilot_check{};  // likewise
  bool recomputed = false;                  // the model; not when an answer is already in doubt
  bool in_parts = false;  // it lies with the owners, and nobody else can recompute it
  bool dealt = false;     // in parts: the noise was a dealer's, not the owners'
  bool file_compared = false;
  std::vector<Owner> owners{};
  std::vector<Finding> findings{};

  /// Whether everything is what it must be.
  bool holds() const { return findings.empty(); }

  std::string to_text() const;
  std::string to_json() const;  // parley.verify/1
};

struct VerifyOptions {
  /// By owner: its ledger, if it lends it. Then every receipt must be a row of it, and no answer
  /// may be missing from the transcript.
  std::map<std::string, std::filesystem::path> ledgers{};
  std::string as{};  // where every owner learns a model of its own: whose it is
};

/// `model` is a model file, or the manifest of one that lies with the owners in parts; `transcript`
/// is what the learner wrote beside it; bundle and pilot are looked for beside the charter. An
/// error (kInvalid, kFailed) means that there is nothing to verify, such as a draft or a file that
/// cannot be read; what is false is a finding.
Result<VerifyResult> verify(const std::filesystem::path& model,
                            const std::filesystem::path& transcript, const Charter& charter,
                            const VerifyOptions& options = {});

}  // namespace parley
