// The party whose connection `parley doctor` checks, from an owner's policy or from the folder of a
// learner's credentials.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parley/net/doctor/doctor.h"

namespace parley::net {

/// An owner's, by its policy, or a learner's, by the folder of its credentials.
struct PatientOptions {
  std::filesystem::path policy{};
  std::string dial{};                // empty: as the policy says, else the charter
  std::string learner{};             // where every owner learns: the one to dial
  std::filesystem::path identity{};  // empty: an owner
  std::string name{};                // of the learner
};

/// A learner needs a charter. kInvalid if nobody says whom to dial, or if every owner learns and
/// none of them is named.
Result<Patient> patient_of(const PatientOptions& options, std::optional<charter::Charter> charter);

}  // namespace parley::net
