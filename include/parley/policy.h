// A policy: an owner's own rules, read from TOML. Which data there are, what may be spent on them
// in a lifetime, who may ask, and what runs without a person.
//
//   const auto policy = parley::Policy::read("/etc/parley/policy.toml");
//   if (!policy) return 2;
//   std::cout << policy->explain();
//   const auto accepted = policy->accepts(charter);
//   if (!accepted) std::cout << "refused: " << accepted.error().what << "\n";
//
// A policy stays with its owner; the library sends no part of it anywhere. A Policy is a cheap
// handle to something that never changes: copies share it, and threads may use it at once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "parley/charter.h"
#include "parley/result.h"

namespace parley {

class Policy {
 public:
  /// Reads a file, from whose folder relative paths in it start. kInvalid with file, line, column
  /// and key for anything that a policy cannot say.
  static Result<Policy> read(const std::filesystem::path& file);
  /// The same from its text; `file` is for messages.
  static Result<Policy> parse(std::string_view toml, const std::string& file = "policy");

  /// The owner's name, as charters have it.
  const std::string& owner() const;
  /// Where this owner's ledger lies, or will.
  std::filesystem::path ledger() const;
  /// Whether a rule accepts the charter; the first that matches decides. kPolicy says why none
  /// does. A draft, a charter without this owner and one calibrated like a paper are always
  /// refused. Money is another matter: see preflight in explain.h.
  Result<void> accepts(const Charter& charter) const;
  /// In sentences, for the person who answers for it, as if nothing had been spent yet.
  std::string explain() const;

  // For the library itself; what Internal is, is no part of the interface.
  struct Internal;
  explicit Policy(std::shared_ptr<const Internal> internal);
  const Internal& internal() const { return *internal_; }

 private:
  std::shared_ptr<const Internal> internal_;
};

}  // namespace parley
