#include "parley/protocol/vertical/pair/files.h"

#include <nlohmann/json.hpp>

namespace parley::protocol {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kState = "session.json";
constexpr std::string_view kFormat = "parley.session/1";

/// Nothing for what is no such text.
Bytes bytes_in(const std::string& hex) {
  auto bytes = from_hex(hex);
  return bytes ? *std::move(bytes) : Bytes();
}

Error unreadable() {
  return {Code::kIntegrity, std::string(kState) + " is not what this owner kept of a session",
          "Put the file back as it was, or agree on another run."};
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string known_as(const VerticalPeer& peer) {
  return peer.sign_key ? to_text(*peer.sign_key) : peer.name;
}

Secret32 PairFiles::key_for(const Hash& session, std::string_view what) const {
  return derived(secret_, TupleBytes().add("session").add(charter_).add(session).add(what));
}

Result<PairFiles::Found> PairFiles::find() const {
  Found found;
  if (!kept_) return found;
  const std::string test = TRY(kept_(kRowsTest)), state = TRY(kept_(kState));
  found.test_begun = test.starts_with(kTestBegun);
  if (state.empty()) return found;
  const Json json = Json::parse(state, nullptr, false);
  if (!json.is_object() || text_of(json, "format") != kFormat) return unreadable();
  if (text_of(json, "session").empty()) return found;  // The job has ended.
  const auto session = hash_from_hex(text_of(json, "session"));
  if (!session) return unreadable();
  auto opening = PairOpening::unsealed(key_for(*session, "opening"), charter_,
                                       bytes_in(text_of(json, "opening")));
  if (!opening || opening->session() != *session) return unreadable();
  found.opening = *std::move(opening);
  found.test_begun = false;
  if (!json.contains("opened")) return found;
  const auto opened =
      open(key_for(*session, "opened"), 0, charter_, bytes_in(text_of(json, "opened")));
  if (!opened) return unreadable();
  found.opened = values_of(*opened);
  return found;
}

Result<void> PairFiles::keep_promise(const VerticalPeer& peer, const Hash& list) const {
  const std::string text = to_hex(list) + " " + known_as(peer) + "\n";
  const std::string before = kept_ ? TRY(kept_(kIdsPromised)) : std::string();
  if (before == text) return {};
  if (!before.empty())
    return Error{Code::kIntegrity, peer.name + " has another list of ids than before in this job",
                 "Lists stay as they are in a job: put back the data, or agree on another run."};
  return keep_ ? keep_(kIdsPromised, text) : Result<void>();
}

Result<void> PairFiles::begin_test(const VerticalPeer& peer, const Hash& session) const {
  if (!keep_) return {};
  return keep_(kRowsTest, std::string(kTestBegun) + " " + known_as(peer) + "\nwith " + peer.name +
                              ", session " + to_hex(session) + "\n");
}

Result<void> PairFiles::pass_test(const VerticalPeer& peer, const PairOpening& opening) const {
  if (!keep_) return {};
  TRY(keep(opening, std::nullopt));
  return keep_(kRowsTest, "passed " + known_as(peer) + "\nwith " + peer.name + ", session " +
                              to_hex(opening.session()) + "\n");
}

Result<void> PairFiles::keep(const PairOpening& opening,
                             const std::optional<Opened>& opened) const {
  if (!keep_) return {};
  const Hash& session = opening.session();
  Json json{{"format", kFormat},
            {"session", to_hex(session)},
            {"opening", to_hex(opening.sealed(key_for(session, "opening"), charter_))}};
  if (opened)
    json["opened"] = to_hex(seal(key_for(session, "opened"), 0, charter_, bytes_of(*opened)));
  return keep_(kState, json.dump() + "\n");
}

Result<void> PairFiles::keep_opened(const PairOpening& opening, const Opened& opened) const {
  return keep(opening, opened);
}

Result<void> PairFiles::forget() const {
  if (!keep_) return {};
  return keep_(kState, Json{{"format", kFormat}, {"session", ""}}.dump() + "\n");
}

}  // namespace parley::protocol
