// What was found between two parties, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"

namespace parley::report {

struct Diagnosis {
  struct Finding {
    std::string check{};
    std::string said{};  // what was found; empty if it was not tried
    std::optional<Error> wrong{};
  };
  std::vector<Finding> findings{};

  const Error* wrong() const;  // the first, or nullptr
  int exit() const;            // with what `parley doctor` exits
};

std::string to_text(const Diagnosis& diagnosis);
std::string to_json(const Diagnosis& diagnosis);  // parley.doctor/1

}  // namespace parley::report
