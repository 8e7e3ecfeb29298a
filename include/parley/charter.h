// A charter: what all parties agree on before a job, read from TOML, with every default filled in.
//
//   const auto charter = parley::Charter::read("loans.charter.toml", {{"protocol.rounds", "50"}});
//   if (!charter) {
//     std::cerr << parley::describe(charter.error()) << "\n";
//     return 2;
//   }
//   std::cout << charter->explain();
//
// Everything in a charter is public: the schema with its bounds, the model, the protocol, the
// owners' budgets and how many rows they have. A Charter is a cheap handle to something that never
// changes: copies share it, and threads may use it at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/bytes.h"
#include "parley/result.h"

namespace parley {

/// A change of one key, as `--set protocol.rounds=5` makes it on the command line. The value is
/// read as TOML, and as text where it is none (gaussian); a member of an array is its number
/// (owner.0.epsilon).
struct Override {
  std::string key, value;
};

/// What a charter says about an owner.
struct CharterOwner {
  std::string name;
  uint64_t rows = 0;   // public
  double epsilon = 0;  // for the whole job, evaluation included
  double delta = 0;    // 0: pure differential privacy
};

class Charter {
 public:
  /// Reads a file; the table of owners, pilot and bundle are looked for beside it. kInvalid with
  /// file, line, column and key for anything that a charter cannot say.
  static Result<Charter> read(const std::filesystem::path& file,
                              std::vector<Override> changes = {});
  /// The same from its text; `folder` is where other files are looked for.
  static Result<Charter> parse(std::string_view toml, std::vector<Override> changes = {},
                               const std::filesystem::path& folder = ".");

  const std::string& name() const;
  const std::string& consortium() const;
  const std::string& purpose() const;
  /// SHA-256 of its meaning: of canonical JSON with all defaults, not of the file. It names the
  /// job, is in every message and in every row of a ledger.
  Hash hash() const;
  /// A draft leaves keys to the forecaster; only a complete charter trains.
  bool complete() const;
  /// The keys that a draft leaves open, such as protocol.rounds.
  const std::vector<std::string>& undecided() const;
  std::vector<CharterOwner> owners() const;
  /// In sentences, for the people who decide: who takes part, what leaves each owner at which
  /// price, what is public and what is not covered.
  std::string explain() const;
  std::string to_json() const;  // parley.charter/1

  // For the library itself; what Internal is, is no part of the interface.
  struct Internal;
  explicit Charter(std::shared_ptr<const Internal> internal);
  const Internal& internal() const { return *internal_; }

 private:
  std::shared_ptr<const Internal> internal_;
};

}  // namespace parley
