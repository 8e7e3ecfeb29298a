// A whole federated job over small records: three owners with ledgers in memory, whose noise and
// keys replay.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/protocol/federated/learner.h"
#include "parley/protocol/make_owner.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::test {

inline SigningKey clinic_key(size_t owner) {
  return SigningKey::from_seed(some_hash("clinic " + std::to_string(owner)));
}

inline charter::Charter clinics_charter(size_t owners = 3, const std::string& secure = "") {
  std::string text =
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n"
      "[target]\ncolumn = \"sick\"\nlevels = [\"no\", \"yes\"]\n"
      "[[column]]\nname = \"x\"\ncount = 2\nkind = \"number\"\nbounds = [-9.0, 9.0]\n"
      "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 0.1\nbox = 4.0\n"
      "[protocol]\nname = \"federated\"\nrounds = 2\nlocal_steps = 3\nstep = 0.5\n"
      "[privacy]\nmax_row_norm = 1.0\ndelta = 1e-6\n[secure_aggregation]\n" +
      secure;
  for (size_t i = 0; i < owners; ++i)
    text += "[[owner]]\nname = \"clinic-" + std::to_string(i) +
            "\"\nrows = 4\nepsilon = 2.0\nsign_key = \"" + to_text(clinic_key(i).public_key()) +
            "\"\n";
  auto charter = charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "test", ".");
  check(bool(charter));
  return *charter;
}

/// As few as can have a graph that they draw together.
inline charter::Charter sparse_clinics_charter() {
  return clinics_charter(7, "survivors = 7\ngraph = \"sparse\"\n");
}

inline std::shared_ptr<const data::Rows> clinic_rows(size_t owner) {
  auto rows = std::make_shared<data::Rows>(2);
  const double shift = .1 * double(owner);
  rows->add(std::array{3., 4. + shift}, 1.);  // Longer than allowed.
  rows->add(std::array{.5 - shift, -.5}, -1.);
  rows->add(std::array{shift, .25}, 1.);
  rows->add(std::array{-1., shift}, -1.);
  return rows;
}

/// What an owner keeps, and its process.
struct Clinic {
  StoppedClock clock;
  SeededEntropy entropy;
  ledger::Ledger ledger;
  ledger::DatasetId dataset;
  std::unique_ptr<protocol::Owner> process{};

  Clinic(const charter::Charter& charter, size_t place)
      : entropy(1, charter.owners[place].name),
        ledger(memory_ledger(charter.owners[place].name, clock)),
        dataset(*ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{2.0}, 1e-6, 0))) {
    restart(charter, place);
  }
  void restart(const charter::Charter& charter, size_t place) {
    restart(charter, place, clinic_rows(place));
  }
  /// With other records.
  template <class Rows>
  void restart(const charter::Charter& charter, size_t place, Rows rows) {
    process = *protocol::make_owner({.charter = charter,
                                     .place = place,
                                     .records = gate::Records(data::AnyRows(std::move(rows))),
                                     .ledger = ledger,
                                     .dataset = dataset,
                                     .key = clinic_key(place),
                                     .entropy = entropy});
  }
};

/// All of them and a learner; what travels can be looked at and changed on the way.
class Clinics {
 public:
  explicit Clinics(const charter::Charter& of)
      : charter(of), learner(*protocol::federated_plan(charter, nullptr)) {
    for (size_t i = 0; i < charter.owners.size(); ++i)
      owners.push_back(std::make_unique<Clinic>(charter, i));
  }

  void connect(size_t owner) {
    learner.attend(owner);
    hear(owner, owners[owner]->process->connect());
  }
  void connect_all() {
    for (size_t i = 0; i < owners.size(); ++i) connect(i);
  }
  /// A stream ends; its messages are lost.
  void leave(size_t owner) {
    learner.leave(owner);
    std::erase_if(post, [&](const protocol::Outgoing& each) { return each.owner == owner; });
  }
  void hear(size_t owner, const Bytes& message) {
    on_up(owner, message);
    keep(learner.step(owner, message), owner);
  }
  void keep(Result<protocol::Step> step, size_t owner) {
    if (!step) {
      refused.push_back(step.error());
      return leave(owner);
    }
    if (step->taken) journal.entries.push_back({charter.owners[owner].name, *step->taken});
    for (wire::Note note : step->notes) {
      note.answers = journal.entries.size();
      journal.notes.push_back(note);
    }
    for (auto& each : step->messages) post.push_back(std::move(each));
  }
  /// Delivers one message; false if there is none.
  bool deliver() {
    if (post.empty()) return false;
    const protocol::Outgoing letter = std::move(post.front());
    post.pop_front();
    on_down(letter);
    const auto reply = owners[letter.owner]->process->step(letter.message);
    if (!reply) {
      refused.push_back(reply.error());
      leave(letter.owner);
    } else if (*reply) {
      hear(letter.owner, **reply);
    }
    return true;
  }
  void run() {
    while (deliver() || learner.is_ready())
      if (learner.is_ready()) keep(learner.time_is_up(), 0);
  }

  charter::Charter charter;
  protocol::FederatedLearner learner;
  std::vector<std::unique_ptr<Clinic>> owners;
  std::deque<protocol::Outgoing> post;
  wire::Transcript journal;
  std::vector<Error> refused;
  std::function<void(size_t, const Bytes&)> on_up = [](size_t, const Bytes&) {};
  std::function<void(const protocol::Outgoing&)> on_down = [](const protocol::Outgoing&) {};
};

}  // namespace parley::test
