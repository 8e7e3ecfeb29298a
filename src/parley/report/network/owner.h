// What an owner's commands found or did, for people and for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/explain.h"
#include "parley/owner.h"

namespace parley::report {

/// Jobs that all ended well: of another one, its error is what the command gives.
std::string to_text(const std::vector<OwnerJob>& jobs);
std::string to_json(const std::vector<OwnerJob>& jobs);

/// A charter that a person has approved, or refused, or withdrawn.
struct Approved {
  std::string name;
  Hash charter{};
  std::string what = "approved";
  std::string noise{};  // of what will be paid, where it decides the use
  std::string waits{};  // why it is not in the ledger yet, if that is not as it should be
};
std::string to_text(const std::vector<Approved>& charters);
std::string to_json(const std::vector<Approved>& charters);

/// What a policy will answer, and what stands in the way.
struct OwnerCheck {
  std::string owner;
  std::string explanation;            // of the policy, in sentences
  Result<std::string> identity;       // URI of the credentials, or what is wrong with them
  std::vector<Preflight> charters{};  // asked for

  bool runs() const;
};
std::string to_text(const OwnerCheck& check);
std::string to_json(const OwnerCheck& check);  // parley.owner.check/1

/// A part of parley.owner.check/1 and of no other result.
std::string to_json(const Preflight& preflight);

/// The model of the others with an owner's own rows added.
struct TunedModel {
  Hash charter{};
  std::string name;  // of the charter
  std::filesystem::path model;
  bool published = false;
  std::filesystem::path transcript{};  // if published
  double epsilon_spent = 0;
};
std::string to_text(const TunedModel& tuned);
std::string to_json(const TunedModel& tuned);

}  // namespace parley::report
