#include "parley/protocol/verify/verify_model.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"

namespace parley::protocol {
namespace {

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// In one sentence, for a wrong model is usually wrong everywhere.
std::vector<std::string> different_theta(const std::vector<double>& found,
                                         const std::vector<double>& expected) {
  if (found.size() != expected.size())
    return {"model.theta has " + std::to_string(found.size()) + " numbers, recomputed are " +
            std::to_string(expected.size())};
  std::string first;
  size_t count = 0;
  for (size_t j = 0; j < found.size(); ++j) {
    if (same_bits(found[j], expected[j])) continue;
    if (count++ == 0)
      first = "model.theta." + std::to_string(j) + " is " + shortest(found[j]) +
              ", recomputed is " + shortest(expected[j]);
  }
  if (count == 0) return {};
  return {first + (count > 1 ? "; " + std::to_string(count) + " numbers differ in all" : "")};
}

/// "/privacy_card/owners/0/epsilon" as privacy_card.owners.0.epsilon.
std::string dotted(std::string pointer) {
  pointer.erase(0, 1);
  for (char& c : pointer)
    if (c == '/') c = '.';
  return pointer;
}

std::string shown(const nlohmann::json& value) {
  constexpr size_t kShown = 200;
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, kShown);
}

std::string sentence(const nlohmann::json& step, const nlohmann::json& found) {
  const std::string path = step["path"];
  if (path.ends_with("/-"))  // The end of a list.
    return dotted(path.substr(0, path.size() - 2)) + " lacks " + shown(step["value"]);
  if (step["op"] == "add") return dotted(path) + " is missing";
  const std::string is =
      dotted(path) + " is " + shown(found.at(nlohmann::json::json_pointer(path)));
  return step["op"] == "remove" ? is + ", which does not belong there"
                                : is + ", recomputed is " + shown(step["value"]);
}

nlohmann::json without_theta(const learn::Model& model) {
  nlohmann::json json = nlohmann::json::parse(to_json(model));
  json["model"].erase("theta");
  json["training"].erase("parley");
  return json;
}

}  // namespace

std::vector<std::string> differences(const learn::Model& found, const learn::Model& expected) {
  std::vector<std::string> sentences = different_theta(found.theta, expected.theta);
  const nlohmann::json file = without_theta(found);
  for (const nlohmann::json& step : nlohmann::json::diff(file, without_theta(expected)))
    sentences.push_back(sentence(step, file));
  return sentences;
}

}  // namespace parley::protocol
