// Audits by attack: the lower bound of epsilon that an attack certifies, beside the epsilon that is
// claimed.
//
//   const auto audit = parley::audit_mechanism("laplace", {.runs = 20'000});
//   if (!audit) return 1;
//   std::cout << audit->to_text();
//   return audit->passes() ? 0 : 1;
//
// It uses generated records only: nothing private is read, nothing is paid, no ledger is touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter.h"
#include "parley/progress.h"
#include "parley/result.h"

namespace parley {

/// What is promised.
struct Claim {
  double epsilon = 0;
  double delta = 0;
  bool gaussian = false;  // of the noise; allows the Gaussian bound
};

/// Lower bounds on the true epsilon, at the claim's delta; 0 proves nothing.
struct Certificate {
  double clopper_pearson = 0;
  std::optional<double> gaussian{};  // where the claim is of Gaussian noise
  double if_perfect = 0;             // had the worlds never been confused
  double epsilon() const { return std::max(clopper_pearson, gaussian.value_or(0)); }
};

/// Two worlds: many plays in each of two data sets that differ in one record. One run: a single
/// training with many canaries, each in or out by a coin.
enum class AuditMethod { kTwoWorld, kOneRun };

/// What an attack came to.
struct Audit {
  std::string kind, name, what;
  std::string charter{}, charter_hash{};  // of a charter's protocol
  Claim claimed;
  AuditMethod method = AuditMethod::kTwoWorld;
  uint64_t runs = 0;  // per world; of one run: canaries
  double confidence = 0;
  Certificate found;
  std::string control_name{};
  std::optional<Certificate> control{};

  /// Whether no attack proved more than what is claimed. Not a proof of privacy.
  bool passes() const { return found.epsilon() <= claimed.epsilon; }

  std::string to_text() const;
  std::string to_json() const;  // parley.audit/1
};

struct AuditOptions {
  AuditMethod method = AuditMethod::kTwoWorld;
  uint64_t runs = 0;       // in each world, or canaries; 0: 200,000 of a mechanism, 5,000 of a
                           // charter, 1,000 canaries
  double confidence = 0;   // of the certificate; 0: 0.999999, of one run 0.95
  uint64_t seed = 1;       // same seed, same certificate, on any number of threads
  int threads = 0;         // 0: as many as the machine has
  OnProgress progress{};   // plays
  std::stop_token stop{};  // kFailed once it is requested
};

/// The mechanisms that can be audited by name.
std::vector<std::string> mechanism_names();

/// What a mechanism is asked to promise.
struct MechanismTerms {
  double epsilon = 1;
  double delta = 1e-5;  // of mechanisms that need one
  uint32_t answers = 1;
};

/// Attacks a mechanism alone, calibrated as an owner's would be. kInvalid for an unknown name.
Result<Audit> audit_mechanism(const std::string& name, const AuditOptions& options = {},
                              const MechanismTerms& terms = {});

/// Attacks the owner of a charter's job through its own code, from its greeting to its ledger; the
/// attacker is the learner, who may ask what it likes. `owner` may be empty: the first. kInvalid
/// for an unknown owner or a charter that cannot be attacked.
Result<Audit> audit_charter(const Charter& charter, const std::string& owner = "",
                            const AuditOptions& options = {});

}  // namespace parley
