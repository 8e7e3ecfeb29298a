// An audit: the epsilon that an attack certifies beside the one that is claimed, and what the same
// attack would have certified had something been wrong.
#pragma once

#include <optional>
#include <string>

#include "parley/audit/targets/target.h"
#include "parley/audit/two_world.h"

namespace parley::audit {

enum class Method { kTwoWorld, kOneRun };

/// What `parley audit` prints, as text or as formats/json/audit.json.
struct Audit {
  std::string kind, name, what;
  std::string charter{}, charter_hash{};  // of a charter's protocol
  Claim claimed;
  Method method = Method::kTwoWorld;
  uint64_t runs = 0;  // per world; of one run: canaries
  double confidence = 0;
  Certificate found;
  std::string control_name{};
  std::optional<Certificate> control{};

  bool passes() const { return found.epsilon() <= claimed.epsilon; }
};

/// Plays with the target, and with its control if it has one, at most as often.
Result<Audit> run(const Target& target, Method method, const Effort& effort);

/// How many plays, or canaries, that takes in all, for progress.
uint64_t plays_of(const Target& target, Method method, uint64_t runs);

}  // namespace parley::audit
