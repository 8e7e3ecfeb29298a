#include "parley/protocol/vertical/pair/files.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace parley::protocol {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kState = "session.json", *kPools = "pools.json";
constexpr std::string_view kFormat = "parley.session/2";
constexpr std::string_view kPoolsFormat = "parley.pools/1";
constexpr const char *kBegun = "begun", *kPassed = "passed";

/// Nothing for what is no such text.
Bytes bytes_in(const std::string& hex) {
  auto bytes = from_hex(hex);
  return bytes ? *std::move(bytes) : Bytes();
}

Error unreadable(const std::string& name = kState) {
  return {Code::kIntegrity, name + " is not what this owner kept of a session",
          "Put the file back as it was, or agree on another run."};
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string known_as(const VerticalPeer& peer) {
  return peer.sign_key ? to_text(*peer.sign_key) : peer.name;
}

bool says_begun(const std::string& rows_test, const std::string& known) {
  for (const std::string& line : lines_of(rows_test))
    if (line == std::string(kBegun) + " " + known) return true;
  return false;
}

Secret32 PairFiles::key_for(const Hash& name, std::string_view what) const {
  return derived(secret_, TupleBytes().add("session").add(charter_).add(name).add(what));
}

Result<std::string> PairFiles::read(const char* name) const {
  return kept_ ? kept_(name) : Result<std::string>(std::string());
}

Result<PairFiles::Found> PairFiles::find() const {
  Found found;
  const std::string tests = TRY(read(kRowsTest)), state = TRY(read(kState));
  for (size_t i = 0; i < owners_.size(); ++i)
    if (says_begun(tests, known_as(owners_[i]))) found.begun.insert(i);
  if (state.empty()) return found;
  const Json json = Json::parse(state, nullptr, false);
  if (!json.is_object() || text_of(json, "format") != kFormat) return unreadable();
  if (text_of(json, "session").empty()) return found;  // The job has ended.
  const auto name = hash_from_hex(text_of(json, "session"));
  if (!name) return unreadable();
  if (json.contains("rounds")) {
    found.rounds = TRY(rounds_in(*name, bytes_in(text_of(json, "rounds"))));
    std::erase_if(found.begun, [&](size_t i) { return found.rounds->session(i) != Hash{}; });
    return found;
  }
  auto opening =
      Opening::unsealed(key_for(*name, "opening"), charter_, bytes_in(text_of(json, "opening")));
  if (!opening || opening->name() != *name) return unreadable();
  found.opening = *std::move(opening);
  std::erase_if(found.begun, [&](size_t i) { return found.opening->session(i) != Hash{}; });
  if (!json.contains("opened")) return found;
  const auto opened =
      open(key_for(*name, "opened"), 0, charter_, bytes_in(text_of(json, "opened")));
  if (!opened) return unreadable();
  found.opened = values_of(*opened);
  return found;
}

Result<void> PairFiles::keep_promise(size_t owner, const Hash& list) const {
  const std::string known = " " + known_as(owners_[owner]), line = to_hex(list) + known;
  const std::string before = TRY(read(kIdsPromised));
  for (const std::string& each : lines_of(before)) {
    if (each == line) return {};
    if (each.ends_with(known))
      return Error{Code::kIntegrity,
                   owners_[owner].name + " has another list of ids than before in this job",
                   "Lists stay as they are in a job: put back the data, or agree on another run."};
  }
  return keep_ ? keep_(kIdsPromised, before + line + "\n") : Result<void>();
}

/// Two lines for each other owner; all but these stay.
Result<void> PairFiles::write_test(size_t owner, const char* stands, const Hash& session) const {
  if (!keep_) return {};
  const std::string known = known_as(owners_[owner]);
  std::string text;
  const std::vector<std::string> lines = lines_of(TRY(read(kRowsTest)));
  for (size_t i = 0; i + 1 < lines.size(); i += 2)
    if (!lines[i].ends_with(" " + known)) text += lines[i] + "\n" + lines[i + 1] + "\n";
  text += std::string(stands) + " " + known + "\nwith " + owners_[owner].name + ", session " +
          to_hex(session) + "\n";
  return keep_(kRowsTest, text);
}

Result<void> PairFiles::begin_test(size_t owner, const Hash& session) const {
  return write_test(owner, kBegun, session);
}

Result<void> PairFiles::pass_test(size_t owner, const Opening& opening) const {
  TRY(keep(opening, std::nullopt));
  return write_test(owner, kPassed, opening.session(owner));
}

Result<void> PairFiles::keep(const Opening& opening, const std::optional<Opened>& opened) const {
  if (!keep_) return {};
  const Hash name = opening.name();
  Json json{{"format", kFormat},
            {"session", to_hex(name)},
            {"opening", to_hex(opening.sealed(key_for(name, "opening"), charter_))}};
  if (opened)
    json["opened"] = to_hex(seal(key_for(name, "opened"), 0, charter_, bytes_of(*opened)));
  return keep_(kState, json.dump() + "\n");
}

/// Names a state, to nobody without the secret: no two are sealed under one key.
Hash PairFiles::name_of(ByteView state) const {
  return derived(secret_, TupleBytes().add("rounds").add(charter_).add(sha256(state)));
}

Result<Rounds> PairFiles::rounds_in(const Hash& name, ByteView box) const {
  auto state = open(key_for(name, "rounds"), 0, charter_, box);
  if (!state) return unreadable();
  auto rounds = name_of(*state) == name ? Rounds::from_state(*state) : std::nullopt;
  wipe(state->data(), state->size());
  if (!rounds) return unreadable();
  return *std::move(rounds);
}

Result<void> PairFiles::keep_rounds(const Rounds& rounds) const {
  if (!keep_) return {};
  Bytes state = rounds.state();
  const Hash name = name_of(state);
  const Bytes box = seal(key_for(name, "rounds"), 0, charter_, state);
  wipe(state.data(), state.size());
  const Json json{{"format", kFormat}, {"session", to_hex(name)}, {"rounds", to_hex(box)}};
  return keep_(kState, json.dump() + "\n");
}

Result<void> PairFiles::pass_test(size_t owner, const Rounds& rounds) const {
  if (!keep_) return {};
  Json pools = Json::object();
  for (size_t i = 0; i < owners_.size(); ++i) {
    if (rounds.session(i) == Hash{}) continue;
    Json& pool = pools[std::to_string(i)] = Json::array();
    for (const Bytes& sealed : rounds.sealed_pool(i, charter_)) pool.push_back(to_hex(sealed));
  }
  TRY(keep_(kPools, Json{{"format", kPoolsFormat}, {"pools", pools}}.dump() + "\n"));
  TRY(keep_rounds(rounds));
  return write_test(owner, kPassed, rounds.session(owner));
}

Result<void> PairFiles::find_pools(Rounds& rounds, const plan::VerticalTerms& terms) const {
  const Json json = Json::parse(TRY(read(kPools)), nullptr, false);
  const bool known = json.is_object() && text_of(json, "format") == kPoolsFormat &&
                     json.contains("pools") && json["pools"].is_object();
  if (!known) return unreadable(kPools);
  for (size_t i = 0; i < owners_.size(); ++i) {
    if (rounds.session(i) == Hash{}) continue;
    std::vector<Bytes> pool;
    const auto found = json["pools"].find(std::to_string(i));
    if (found != json["pools"].end() && found->is_array())
      for (const Json& sealed : *found)
        pool.push_back(bytes_in(sealed.is_string() ? sealed.get<std::string>() : ""));
    if (!rounds.unseal_pool(i, pool, charter_, terms)) return unreadable(kPools);
  }
  return {};
}

Result<void> PairFiles::keep_opened(const Opening& opening, const Opened& opened) const {
  return keep(opening, opened);
}

Result<void> PairFiles::forget() const {
  if (!keep_) return {};
  if (!TRY(read(kPools)).empty())
    TRY(keep_(kPools, Json{{"format", kPoolsFormat}, {"pools", Json::object()}}.dump() + "\n"));
  return keep_(kState, Json{{"format", kFormat}, {"session", ""}}.dump() + "\n");
}

}  // namespace parley::protocol
