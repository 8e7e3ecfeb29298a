#include "parley/api/explore/state.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parley/api/internal.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/base/printable.h"

namespace parley::api {
namespace {

using charter::Owner;

constexpr size_t kOwnersMax = 500;
constexpr const char* kUsualDelta = "1e-6";

/// The text without these sections: from their header up to the next one.
std::string without(std::string_view text, std::initializer_list<std::string_view> headers) {
  std::string kept;
  bool dropping = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view words =
        line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (words.starts_with('['))
      dropping = std::any_of(headers.begin(), headers.end(),
                             [&](std::string_view header) { return words.starts_with(header); });
    if (!dropping) kept += std::string(line) + "\n";
  }
  return kept;
}

std::string address_line(const charter::Addresses& addresses) {
  std::string all;
  for (const std::string& each : addresses.all) all += (all.empty() ? "\"" : ", \"") + each + "\"";
  return addresses.empty() ? "" : "address = [" + all + "]\n";
}

/// With every key that an owner of rows can have.
std::string block_of(const Owner& owner, const std::string& rows, const std::string& epsilon,
                     const std::string& delta) {
  return "\n[[owner]]\nname = \"" + owner.name + "\"\nrows = " + rows + "\nepsilon = " + epsilon +
         "\ndelta = " + delta + "\n" +
         (owner.sign_key ? "sign_key = \"" + to_text(*owner.sign_key) + "\"\n" : "") +
         address_line(owner.address) +
         (owner.rate != 1 ? "rate = " + shortest(owner.rate) + "\n" : "");
}

/// A number that a person has typed, as TOML takes it.
Result<std::string> number(const std::string& text, const std::string& what) {
  const auto value = parse_number(text);
  if (value) return shortest(*value);
  return Error{Code::kInvalid, what + " is not a number: " + in_quotes(text),
               "Write it with digits and a point, such as 0.5."};
}

/// A count: TOML tells 1000 from 1000.0, and 1e3 is what people write.
Result<std::string> count(const std::string& text, const std::string& what) {
  const auto value = parse_number(text);
  if (value && *value >= 1 && *value <= 1e12 && *value == static_cast<double>(int64_t(*value)))
    return std::to_string(int64_t(*value));
  return Error{Code::kInvalid, what + " is not a number of rows: " + in_quotes(text),
               "Write a whole number, at least 1."};
}

Result<std::string> delta_of(const Owner& owner, const report::Explored& state) {
  if (state.mechanism.empty()) return shortest(owner.delta);
  if (state.mechanism == "laplace") return std::string("0");
  if (owner.delta > 0) return shortest(owner.delta);
  return number(state.delta.empty() ? kUsualDelta : state.delta, "delta");
}

Result<std::string> blocks_of(const charter::Charter& charter, const report::Explored& state) {
  std::string blocks;
  for (size_t i = 0; i < state.owners.size(); ++i) {
    const report::Explored::Owner& set = state.owners[i];
    if (set.out) continue;
    const std::string& epsilon = state.all.empty() ? set.epsilon : state.all;
    blocks += block_of(charter.owners[i], TRY(count(set.rows, "rows of " + set.name)),
                       TRY(number(epsilon, "epsilon of " + set.name)),
                       TRY(delta_of(charter.owners[i], state)));
  }
  return blocks;
}

/// A word that is written into the charter's text: nothing else can come with it.
Result<void> is_word(const std::string& text, const std::string& what) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos) return {};
  return Error{Code::kInvalid, what + " is not a word: " + in_quotes(text),
               "Take one of those that the page offers."};
}

Result<void> can_be_explored(const charter::Charter& charter) {
  if (charter.columns_apart())
    return Error{Code::kInvalid, "the owners of this charter hold columns of the same records",
                 "Take `parley forecast`, which knows such charters."};
  if (charter.owners.size() > kOwnersMax)
    return Error{Code::kInvalid, "the charter has more than 500 owners",
                 "Take `parley forecast`, which has no such limit."};
  return {};
}

Result<std::optional<double>> given(const std::string& text, const std::string& what) {
  if (text.empty()) return std::optional<double>();
  return parse_number(TRY(number(text, what)));
}

}  // namespace

Result<Explorer> explorer_of(const std::filesystem::path& file) {
  const std::string written = TRY(read_file(file));
  const Charter charter = TRY(Charter::read(file));
  TRY(can_be_explored(charter.internal().charter));
  Explorer explorer{.text = without(written, {"[[owner]]", "[owners]"}), .charter = charter};
  // Written anew, it must be the same charter: then what the page writes means what it shows.
  const Charter again = TRY(charter_of(explorer, state_of(explorer, {})));
  if (again.hash() == charter.hash()) return explorer;
  return Error{Code::kInvalid,
               "the page cannot write this charter's owners in another way",
               "Give each owner an [[owner]] block of its own, with one key on a line.",
               {.file = file.string()}};
}

report::Explored state_of(const Explorer& explorer, const net::Fields& fields) {
  const charter::Charter& charter = explorer.charter.internal().charter;
  report::Explored state{.charter = charter.name,
                         .all = fields.text("all"),
                         .protocol = fields.text("protocol"),
                         .mechanism = fields.text("mechanism"),
                         .delta = fields.text("delta"),
                         .differ = fields.text("differ"),
                         .worth = fields.text("worth")};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const Owner& owner = charter.owners[i];
    const std::string k = std::to_string(i);
    state.owners.push_back({.name = owner.name,
                            .epsilon = fields.get("e" + k).value_or(shortest(owner.epsilon)),
                            .rows = fields.get("n" + k).value_or(std::to_string(owner.rows)),
                            .out = fields.text("o" + k) == "1"});
  }
  return state;
}

Result<Charter> charter_of(const Explorer& explorer, const report::Explored& state) {
  const charter::Charter& charter = explorer.charter.internal().charter;
  TRY(is_word(state.protocol, "the protocol"));
  TRY(is_word(state.mechanism, "the mechanism"));
  std::vector<Override> changes;
  std::string text = explorer.text;
  if (!state.protocol.empty() && state.protocol != name_of(charter.protocol.name()))
    text = without(text, {"[protocol]"}) + "\n[protocol]\nname = \"" + state.protocol + "\"\n";
  if (!state.mechanism.empty()) changes.push_back({"privacy.mechanism", state.mechanism});
  return Charter::parse(text + TRY(blocks_of(charter, state)), std::move(changes), charter.folder);
}

Result<Forecast> forecast_of(const Explorer& explorer, const report::Explored& state) {
  if (explorer.as_it_is && state == state_of(explorer, {})) return *explorer.as_it_is;
  ForecastOptions how = explorer.how;
  if (const auto differ = TRY(given(state.differ, "how far owners differ"))) how.differ = *differ;
  if (const auto worth = TRY(given(state.worth, "the least gain"))) how.worth = *worth;
  return make_forecast(TRY(charter_of(explorer, state)), how);
}

}  // namespace parley::api
