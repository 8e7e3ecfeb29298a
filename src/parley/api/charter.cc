#include "parley/charter.h"

#include <utility>

#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/plan/explain.h"
#include "parley/report/charter.h"

namespace parley {
namespace {

Charter handle_of(charter::Charter charter, std::string_view text, std::vector<Override> changes) {
  return Charter(std::make_shared<const Charter::Internal>(
      Charter::Internal{std::move(charter), std::string(text), std::move(changes)}));
}

}  // namespace

Result<Charter> Charter::read(const std::filesystem::path& file, std::vector<Override> changes) {
  charter::Charter charter = TRY(charter::read_charter(file, changes));
  return handle_of(std::move(charter), TRY(read_file(file)), std::move(changes));
}

Result<Charter> Charter::parse(std::string_view toml, std::vector<Override> changes,
                               const std::filesystem::path& folder) {
  charter::Charter charter = TRY(charter::parse_charter(toml, "charter", folder, changes));
  return handle_of(std::move(charter), toml, std::move(changes));
}

Charter::Charter(std::shared_ptr<const Internal> internal) : internal_(std::move(internal)) {}
const std::string& Charter::name() const { return internal().charter.name; }
const std::string& Charter::consortium() const { return internal().charter.consortium; }
const std::string& Charter::purpose() const { return internal().charter.purpose; }
Hash Charter::hash() const { return internal().charter.hash; }
bool Charter::complete() const { return internal().charter.complete(); }
const std::vector<std::string>& Charter::undecided() const { return internal().charter.undecided; }
std::string Charter::explain() const { return plan::explain(internal().charter); }
std::string Charter::to_json() const { return report::to_json(internal().charter); }

std::vector<CharterOwner> Charter::owners() const {
  std::vector<CharterOwner> owners;
  for (const charter::Owner& owner : internal().charter.owners)
    owners.push_back({owner.name, static_cast<uint64_t>(owner.rows), owner.epsilon, owner.delta});
  return owners;
}

}  // namespace parley
