// The charters whose plans are golden: every example, and for every protocol a base with variants
// that change one or a few keys each.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"

namespace parley::test {

/// Keys and their TOML values, such as "protocol.rule" and "\"constant\""; owners and columns are
/// "owner.a.rows", in the order of their letters. An empty value takes a key away.
using Keys = std::map<std::string, std::string>;

struct PlanCase {
  std::string name;
  std::string base{};  // of whose plan only the differences are written; empty: all is written
  Result<charter::Charter> charter;
};

struct PlanFamily {
  std::string name;  // of the golden file
  std::vector<PlanCase> cases;
};

std::vector<PlanFamily> plan_families(const std::filesystem::path& examples);

/// The text of a charter with these keys.
std::string charter_text(const Keys& keys);

// plan_charters_*.cc, a family each.
PlanFamily sync_family();
PlanFamily statistics_family();
PlanFamily owners_family();  // owners that learn
PlanFamily async_family();
PlanFamily sums_family();  // synchronous, under secure aggregation
PlanFamily federated_family();
PlanFamily sharing_family();
PlanFamily paper_family();

// For them:

/// A family that grows: bases, and changes of them.
class Growing {
 public:
  explicit Growing(std::string family) : family_{std::move(family), {}} {}
  /// Written by its differences from the base `like`, or from the first.
  void base(const std::string& name, const Keys& keys, const std::string& like = "");
  /// Of the newest base.
  void change(const std::string& name, const Keys& changes);
  PlanFamily done() { return std::move(family_); }

 private:
  PlanFamily family_;
  Keys keys_{};
  std::string base_{};
};

/// `keys` with these changes.
Keys with(Keys keys, const Keys& changes);
/// Three owners with different rows and epsilons and a learner that holds nothing.
Keys three_banks();
/// Two owners more.
Keys five_clinics();
extern const Keys kGaussian;

}  // namespace parley::test
