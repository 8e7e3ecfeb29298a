// Predictions, as CSV for people's tools and as JSON.
#pragma once

#include <string>
#include <vector>

namespace parley::report {

struct Predictions {
  std::string model;
  std::string column;  // the target's name
  std::vector<double> values;
  std::vector<std::string> ids{};  // of the records, where they are known
};

std::string to_csv(const Predictions& predictions);
std::string to_json(const Predictions& predictions);  // parley.predict/1

}  // namespace parley::report
