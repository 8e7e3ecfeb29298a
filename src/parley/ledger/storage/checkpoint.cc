// A chain as one text, and back: what a checkpoint says. Written by hand, number by number, so that
// one state has one text; read by a JSON parser, from rows that the owner has signed.
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/ledger/storage/chain.h"

namespace parley::ledger {
namespace {

using Json = nlohmann::json;
using privacy::Spent;

std::string quoted(const std::string& text) { return Json(text).dump(); }
std::string quoted(const Hash& hash) { return "\"" + to_hex(hash) + "\""; }
std::string text_of(int64_t number) { return std::to_string(number); }
std::string text_of(double number) { return shortest(number + 0.0); }

template <class... Texts>
std::string list(const std::string& first, const Texts&... others) {
  return "[" + first + (("," + others) + ... + "") + "]";
}

/// `text` of each, with commas between.
template <class All, class Text>
std::string list_of(const All& all, const Text& text) {
  std::string joined;
  for (const auto& each : all) joined += (joined.empty() ? "" : ",") + text(each);
  return "[" + joined + "]";
}

std::string text_of(const Spent& spent) {
  return list(text_of(spent.pure), text_of(spent.rho), text_of(spent.delta));
}
Spent spent_from(const Json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()};
}

std::string text_of(const SourceOf& source) {
  return list(quoted(source.is),
              source.fingerprints.empty() ? "null" : quoted(hex_of(source.fingerprints)));
}

// A wrong type or a missing member throws in the parser; a wrong hash or word throws here.
template <class T>
T need(const std::optional<T>& value) {
  if (!value) throw std::invalid_argument("not what a checkpoint says");
  return *value;
}
Hash hash_from(const Json& json) {
  const auto hash = hash_from_hex(json.get<std::string>());
  return need(hash ? std::optional(*hash) : std::nullopt);
}
SourceOf source_from(const Json& json) {
  SourceOf source{json.at(0).get<std::string>(), {}};
  if (!json.at(1).is_null())
    source.fingerprints = need(fingerprints_from(json.at(1).get<std::string>()));
  return source;
}

}  // namespace

std::string Chain::state() const {
  const auto moment = [](const Moment& each) {
    return list(text_of(each.spent), text_of(each.delta_convert), quoted(each.job),
                text_of(each.row));
  };
  const auto rounds = [&](const Rounds& each) {
    if (each.last() == 0) return std::string("[]");
    return list(text_of(int64_t{each.last()}), quoted(each.last_row), moment(each.at(each.last())));
  };
  const auto account = [](const auto& each) {
    const auto& [id, of] = each;
    return list(text_of(id), quoted(of.declared ? budget_event(*of.declared) : ""),
                std::string(of.charged ? "true" : "false"), text_of(of.dataset.spent),
                list_of(of.sources, [](const SourceOf& source) { return text_of(source); }));
  };
  const auto job = [&](const auto& each) {
    const auto& [charter, of] = each;
    return list(quoted(charter), text_of(of.dataset), text_of(of.spent),
                list_of(of.rounds, rounds));
  };
  const auto decision = [](const auto& each) {
    return list(quoted(each.first), quoted(note_event(each.second)));
  };
  const auto lost = [](const auto& each) {
    const LostRow& row = each.second;
    return list(quoted(row.charter), text_of(row.round), quoted(note_event(row.row)));
  };
  const auto restored = [](const auto& each) {
    return list(quoted(each.first), text_of(each.second));
  };
  return "{\"datasets\":" + list_of(accounts_, account) + ",\"jobs\":" + list_of(jobs_, job) +
         ",\"decisions\":" + list_of(decisions_, decision) +
         ",\"missing\":" + list_of(missing_, lost) +
         ",\"restored\":" + list_of(restored_, restored) +
         ",\"last_charge\":" + list(text_of(last_charge_), quoted(last_charge_hash_)) + "}";
}

Bytes Chain::checkpoint_bytes(const Row& row) const {
  return TupleBytes()
      .add("parley ledger checkpoint")
      .add(origin_)
      .add(static_cast<uint64_t>(row.id))
      .add(row.previous)
      .add(sha256(row.answer))
      .bytes();
}

bool Chain::resume(const Row& checkpoint) try {
  const Json state = Json::parse(checkpoint.answer);
  for (const Json& each : state.at("datasets")) {
    const auto found = accounts_.find(each.at(0).get<int64_t>());
    if (found == accounts_.end()) return false;
    Account& account = found->second;
    account.declared = need(budget_from(each.at(1).get<std::string>()));
    account.dataset.unit = account.declared->unit;
    account.charged = each.at(2).get<bool>();
    account.dataset.spent = spent_from(each.at(3));
    account.sources.clear();
    for (const Json& source : each.at(4)) account.sources.push_back(source_from(source));
  }
  for (const Json& each : state.at("jobs")) {
    Job job{each.at(1).get<int64_t>(), spent_from(each.at(2)), {}};
    const Json& kinds = each.at(3);  // An older version may have known fewer of them.
    if (kinds.size() > job.rounds.size()) return false;
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      const Json& last = kinds.at(kind);
      if (last.empty()) continue;
      const Json& moment = last.at(2);
      Rounds& rounds = job.rounds[kind];
      rounds.resumed = last.at(0).get<uint32_t>();
      rounds.row_resumed = rounds.last_row = hash_from(last.at(1));
      rounds.last_resumed = {spent_from(moment.at(0)), moment.at(1).get<double>(),
                             hash_from(moment.at(2)), moment.at(3).get<int64_t>()};
      if (rounds.resumed == 0) return false;
    }
    jobs_.emplace(hash_from(each.at(0)), std::move(job));
  }
  for (const Json& each : state.at("decisions"))
    decisions_.emplace(hash_from(each.at(0)),
                       std::get<Decision>(need(note_from(each.at(1).get<std::string>()))));
  for (const Json& each : state.at("missing")) {
    const auto row = std::get<Missing>(need(note_from(each.at(2).get<std::string>())));
    missing_.emplace(row.chain, LostRow{hash_from(each.at(0)), each.at(1).get<int64_t>(), row});
  }
  for (const Json& each : state.at("restored")) {
    restored_.emplace(hash_from(each.at(0)), each.at(1).get<int64_t>());
    stands_for_.emplace(each.at(1).get<int64_t>(), hash_from(each.at(0)));
  }
  last_charge_ = state.at("last_charge").at(0).get<int64_t>();
  last_charge_hash_ = hash_from(state.at("last_charge").at(1));
  size_ = checkpoint_ = checkpoint.id;
  head_ = checkpoint.hash;
  return true;
} catch (const std::exception&) {  // Not JSON, or not with what a state has.
  return false;
}

}  // namespace parley::ledger
