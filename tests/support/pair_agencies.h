// Owners of columns without a dealer and a learner, whose messages can be changed on the way, and
// whose processes die.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/learn/vertical/aligned_rows.h"
#include "parley/protocol/make_owner.h"
#include "parley/protocol/vertical/learner.h"
#include "parley/protocol/vertical/owner.h"
#include "support/cells_charter.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::protocol::pair_test {

/// Of simulated owners, whose keys follow from their seeds: opens what owner `from` writes to
/// another and puts something else into it, as `from` could do itself.
class Ghostwriter {
 public:
  Ghostwriter(const charter::Charter& charter, size_t from, uint64_t seed)
      : charter_(charter), from_(charter.owners[from].name) {
    test::SeededEntropy entropy(seed, from_);
    AgreementKey::draw(entropy);  // as the owner's constructor does
    key_.emplace(AgreementKey::draw(entropy));
  }

  /// Calls change(text) for letters from that owner to another in this message; it is sent anew if
  /// that returns true.
  template <class Change>
  void rewrite(Outgoing& next, const Change& change) {
    const auto message = wire::decode_to_owner(next.message);
    if (const auto* session = std::get_if<wire::Session>(&message->body)) {
      for (const wire::Peer& peer : session->peers)
        if (peer.owner == charter_.owners[next.owner].name) theirs_[next.owner] = peer.key;
    }
    const auto* letter = std::get_if<wire::Sealed>(&message->body);
    if (letter == nullptr || letter->head().from != from_) return;
    const auto key = key_->agree(theirs_.at(next.owner), "letters", charter_.hash);
    auto text = letter->open(*key, charter_.hash);
    ASSERT_TRUE(text) << "another key than the owner's";
    if (!change(*text)) return;
    const auto changed = wire::Sealed::seal(*key, charter_.hash, letter->head(), *text, entropy_);
    next.message = wire::encode(message->envelope, wire::Letter{changed, wire::Leg::kDown});
  }

 private:
  charter::Charter charter_;
  std::string from_;
  std::optional<AgreementKey> key_{};
  std::map<size_t, Hash> theirs_{};
  test::SeededEntropy entropy_{9, "ghost"};
};

inline constexpr size_t kRecords = 60;

/// What of an owner outlives its process.
struct Agency {
  test::StoppedClock clock;
  test::SeededEntropy entropy;
  ledger::Ledger ledger;
  ledger::DatasetId dataset;
  std::map<std::string, std::string> files{};
  std::unique_ptr<Owner> process{};

  Agency(const charter::Charter& charter, size_t place, uint64_t seed)
      : entropy(seed, charter.owners[place].name),
        ledger(test::memory_ledger(charter.owners[place].name, clock)),
        dataset(
            *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{2000.0}, 1e-5, 0))) {}
  const std::vector<Opened>& opened() const {
    return dynamic_cast<const VerticalOwner&>(*process).opened();
  }
};

/// People of whom an owner has a record, and the order of its file.
struct People {
  size_t first = 0, count = 0;
  uint64_t order = 0;  // of the file
};

struct Agencies {
  charter::Charter charter;
  VerticalLearner learner;
  std::vector<std::unique_ptr<Agency>> owners{};
  std::deque<Outgoing> post{};
  size_t writes = 0, delivered = 0, restarts = 0;
  std::optional<size_t> die_at_write{}, die_at_message{};
  bool after_writing = false;  // or before
  bool stop = false;
  std::optional<size_t> silent{};  // an owner that hears nothing
  std::function<void(Outgoing&)> on_the_way{};
  uint64_t rows_seed[3] = {1, 1, 1};
  std::optional<People> people[3] = {};  // where it is not known which records all have

  explicit Agencies(double epsilon = 1, uint64_t seed = 1)
      : Agencies(test::cells_charter(epsilon, kRecords), seed) {}
  explicit Agencies(const std::string& text, uint64_t seed = 1)
      : charter(*charter::parse_charter(text, "cells.toml", {})),
        learner(*vertical_plan(charter), std::nullopt) {
    for (size_t i = 0; i < charter.owners.size(); ++i)
      owners.push_back(std::make_unique<Agency>(charter, i, seed));
  }

  std::unique_ptr<Owner> start(size_t place) {
    Agency& agency = *owners[place];
    const auto keep = [&, this](const std::string& name, const std::string& text) {
      const bool dies = ++writes == die_at_write;
      if (!dies || after_writing) agency.files[name] = text;
      return dies ? Result<void>(Error{Code::kFailed, "killed"}) : Result<void>();
    };
    const auto kept = [&](const std::string& name) {
      return Result<std::string>(agency.files.contains(name) ? agency.files[name] : "");
    };
    data::AnyRows rows(test::cells_rows(place, kRecords, rows_seed[place]));
    std::optional<learn::Alignment> alignment;
    if (people[place]) alignment = aligned(place, *people[place], rows);
    auto made = make_owner({.charter = charter,
                            .place = place,
                            .records = gate::Records(rows),
                            .ledger = agency.ledger,
                            .dataset = agency.dataset,
                            .entropy = agency.entropy,
                            .columns = {.records = alignment ? Hash{} : Hash{1},
                                        .alignment = std::move(alignment),
                                        .secret = Secret32{uint8_t(7 + place)},
                                        .training = {.seed = 1},
                                        .keep = keep,
                                        .kept = kept}});
    EXPECT_TRUE(made) << (made ? "" : describe(made.error()));
    return *std::move(made);
  }

  /// Some people's records, as an owner would have loaded them.
  learn::Alignment aligned(size_t place, const People& some, data::AnyRows& rows) const {
    std::vector<uint64_t> file(some.count);
    for (size_t i = 0; i < some.count; ++i) file[i] = some.first + i;
    test::SeededEntropy entropy(some.order, "file");
    for (size_t i = some.count; i > 1; --i) std::swap(file[i - 1], file[entropy.word() % i]);
    std::vector<std::string> ids;
    for (const uint64_t person : file) ids.push_back("person " + std::to_string(person));
    const data::AnyRows all(test::cells_rows(place, some.first + some.count, rows_seed[place]));
    learn::Alignment alignment = learn::align(ids, Secret32{1});
    std::vector<uint64_t> order;
    for (const uint64_t row : alignment.rows) order.push_back(file[row]);
    rows = learn::rows_in_order(all, order);
    return alignment;
  }

  void hear(size_t owner, const Bytes& message) {
    auto step = learner.step(owner, message);
    ASSERT_TRUE(step) << describe(step.error());
    for (Outgoing& each : step->messages) post.push_back(std::move(each));
  }
  void come(size_t owner) {
    owners[owner]->process = start(owner);
    learner.attend(owner);
    hear(owner, owners[owner]->process->connect());
  }
  void die(size_t owner) {
    ++restarts;
    learner.leave(owner);
    std::erase_if(post, [&](const Outgoing& each) { return each.owner == owner; });
    come(owner);
  }

  /// Until nobody says anything; the error of an owner that ended with one.
  std::optional<Error> run() {
    for (size_t i = 0; i < owners.size(); ++i) come(i);
    while (!post.empty() && !stop) {
      Outgoing next = std::move(post.front());
      post.pop_front();
      if (on_the_way) on_the_way(next);
      if (next.owner == silent) continue;
      Owner& owner = *owners[next.owner]->process;
      const auto reply = owner.step(next.message);
      if (!reply && learner.refused()) continue;  // It was told so.
      if (!reply && reply.error().what != "killed") return reply.error();
      if (!reply || ++delivered == die_at_message) {
        die(next.owner);
        continue;
      }
      if (*reply) hear(next.owner, **reply);
      while (const auto more = owner.more()) hear(next.owner, *more);
    }
    return std::nullopt;
  }
  size_t paid() const {
    size_t rounds = 0;
    for (const auto& owner : owners) rounds += owner->ledger.last_round(charter.hash);
    return rounds;
  }
  std::string ending() const {
    return learner.finished()  ? "finished"
           : learner.refused() ? learner.refused()->what
                               : "nothing";
  }
};

}  // namespace parley::protocol::pair_test
