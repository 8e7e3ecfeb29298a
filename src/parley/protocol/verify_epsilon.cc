#include "parley/protocol/verify_epsilon.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace parley::protocol {
namespace {

using Json = nlohmann::json;

Error unknown(const std::string& event) {
  return {Code::kIntegrity, "an event that this Parley cannot account for: " + event.substr(0, 200),
          "Verify with the version that trained."};
}

Result<long double> pure_loss(const std::string& event) {
  const Json json = Json::parse(event, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("laplace")) return unknown(event);
  const Json& laplace = json["laplace"];
  const auto number = [&](const char* key) -> long double {
    const bool there = laplace.is_object() && laplace.contains(key) && laplace[key].is_number();
    return there ? laplace[key].get<long double>() : 0;
  };
  const long double scale = number("scale"), sensitivity = number("sensitivity");
  if (!(scale > 0 && sensitivity > 0)) return unknown(event);
  return sensitivity / scale;
}

}  // namespace

Result<void> SecondAccountant::add(const std::string& event) {
  epsilon_ += TRY(pure_loss(event));
  return {};
}

bool SecondAccountant::agrees(double epsilon, double delta) const {
  return std::abs(epsilon - this->epsilon()) <= 1e-9 * this->epsilon() && delta == this->delta();
}

}  // namespace parley::protocol
