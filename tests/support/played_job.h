// A job of any charter in one process, whose keys and noise replay: what travelled in it can be fed
// to its parties again, and so can anything else.
#pragma once

#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

#include "parley/protocol/make_learner.h"
#include "parley/sim/engine/party.h"
#include "support/cells_charter.h"
#include "support/columns_charter.h"
#include "support/letters.h"

namespace parley::test {

struct JobInput {
  charter::Charter charter;
  std::vector<std::shared_ptr<const data::Rows>> rows;  // by owner

  size_t owners() const { return charter.owners.size(); }
  // Letters, by their first byte: from an owner, to the first owner, or time passes.
  size_t to_owner() const { return owners(); }
  size_t time() const { return owners() + 1; }
};

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "%s\n", describe(result.error()).c_str());
  return *std::move(result);
}

inline charter::Charter parsed(const std::string& text) {
  return must(charter::parse_charter(text, "test", "."));
}

/// Two owners that come when their clocks tick.
inline JobInput async_job(const std::string& contact) {
  std::string text =
      "[charter]\nversion = 1\nname = \"tiny\"\nconsortium = \"banks.example\"\n"
      "[target]\ncolumn = \"y\"\nbounds = [-10.0, 10.0]\n"
      "[[column]]\nname = \"x\"\ncount = 2\nkind = \"number\"\nbounds = [-10.0, 10.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nbox = 2.0\n"
      "[protocol]\nname = \"async\"\nrates = \"declared\"\ncontact = \"" +
      contact +
      "\"\nrounds = 5\nanswers = 3\nstep = 0.002\n"
      "[privacy]\nmax_grad_norm = 8.0\nevaluate = 0.1\n[learner]\nname = \"central-bank\"\n";
  for (const int number : {1, 2})
    text += std::string("[[owner]]\nname = \"") + (number == 1 ? "one" : "two") +
            "\"\nrows = " + (number == 1 ? "3" : "2") + "\nepsilon = 1.0\nrate = 1.0\n";
  JobInput job{parsed(text), {}};
  for (const int number : {1, 2})
    job.rows.push_back(std::make_shared<data::Rows>(tiny_owner(number)));
  return job;
}

/// Three owners of two columns each.
inline JobInput columns_job(const std::string& rule) {
  constexpr size_t kRecords = 12;
  JobInput job{parsed(columns_charter(1, kRecords, rule, 2)), {}};
  for (size_t owner = 0; owner < 3; ++owner) {
    auto rows = std::make_shared<data::Rows>(2);
    for (size_t i = 0; i < kRecords; ++i) {
      const double x = double((7 * i + 3 * owner) % 11) / 11 - .5, y = double(i % 5) / 5 - .4;
      rows->add(std::vector<double>{x, y}, i % 2 == 0 ? 1 : -1);
    }
    job.rows.push_back(std::move(rows));
  }
  return job;
}

/// Two or three owners of columns without a dealer.
inline JobInput cells_job(size_t owners) {
  constexpr size_t kRecords = 12;
  JobInput job{parsed(owners == 2 ? cells_charter(1, kRecords) : three_cells_charter(1, kRecords)),
               {}};
  for (size_t owner = 0; owner < owners; ++owner) job.rows.push_back(cells_rows(owner, kRecords));
  return job;
}

inline std::unique_ptr<protocol::Learner> learner_of(const JobInput& job) {
  std::optional<Secret32> key;  // of the dealer
  if (!job.charter.protocol.without_dealer()) key = Secret32{7};
  return must(protocol::make_learner(job.charter, nullptr, protocol::Receipts::kUnsigned, key));
}

inline std::unique_ptr<sim::Party> party_of(const JobInput& job, size_t owner) {
  return must(sim::Party::make({.charter = job.charter,
                                .owner = owner,
                                .rows = job.rows[owner],
                                .policy = nullptr,
                                .seed = 1,
                                .run = 0,
                                .ledger = {},
                                .threads = 1,
                                .records = Hash{1}}));
}

/// What may happen by itself.
enum class Time : uint8_t { kTick, kCall, kUp, kLeaves };

/// The learner and the first owner hear these letters, whoever wrote them. Nothing crashes, the
/// owner pays and answers within its charter and says what can be read, and the model stays in its
/// box.
class FedJob {
 public:
  explicit FedJob(const JobInput& job)
      : job_(job),
        learner_(learner_of(job)),
        party_(party_of(job, 0)),
        owner_(must(party_->start())) {
    for (size_t i = 0; i < job.owners(); ++i) learner_->attend(i);
    owner_->connect();
  }

  void hear(const Letter& letter) {
    if (letter.owner == job_.to_owner())
      tell_owner(letter.message);
    else if (letter.owner == job_.time())
      pass_time(letter.message);
    else if (!learner_->step(letter.owner, letter.message))
      learner_->attend(letter.owner);  // It comes back.
    check_all();
  }
  bool finished() const { return learner_->finished() && owner_->finished().has_value(); }

 private:
  void tell_owner(ByteView message) {
    const auto reply = owner_->step(message);
    if (!reply) check(!reply.error().what.empty());
    if (!reply) owner_->connect();
    if (reply && *reply) check(bool(wire::decode_from_owner(**reply)));
    while (const auto more = owner_->more()) check(bool(wire::decode_from_owner(*more)));
    owner_->rest();
  }
  void pass_time(ByteView what) {
    if (what.empty()) return;
    const size_t who = (what[0] >> 2) % job_.owners();
    switch (Time{static_cast<uint8_t>(what[0] & 3)}) {
      case Time::kTick:
        return static_cast<void>(owner_->tick());
      case Time::kCall:
        return static_cast<void>(learner_->call());
      case Time::kUp:
        return static_cast<void>(learner_->time_is_up());
      case Time::kLeaves:
        learner_->leave(who);
        return learner_->attend(who);
    }
  }
  void check_all() const {
    check(party_->answers() <= job_.charter.answers());
    check(party_->epsilon_spent() <= job_.charter.owners[0].epsilon);
    check(learner_->rounds_done() <= learner_->rounds());
    for (const double value : learner_->trained().theta)
      check(std::abs(value) <= job_.charter.model.box);
  }

  const JobInput& job_;
  std::unique_ptr<protocol::Learner> learner_;
  std::unique_ptr<sim::Party> party_;
  std::unique_ptr<protocol::Owner> owner_;
};

/// The first byte chooses the job.
inline void feed(const std::vector<JobInput>& jobs, ByteView input) {
  if (input.empty()) return;
  const JobInput& job = jobs[input[0] % jobs.size()];
  FedJob fed(job);
  for (const Letter& letter : letters_in(input.subspan(1), job.time() + 1)) fed.hear(letter);
}

/// All parties of an honest job, and the letters of it that are worth feeding.
class PlayedJob {
 public:
  explicit PlayedJob(const JobInput& job) : job_(job), learner_(learner_of(job)) {
    for (size_t i = 0; i < job.owners(); ++i) {
      parties_.push_back(party_of(job, i));
      owners_.push_back(must(parties_.back()->start()));
      learner_->attend(i);
    }
  }

  Bytes letters() {
    for (size_t i = 0; i < owners_.size(); ++i) hear(i, owners_[i]->connect());
    for (int turns = 0; !learner_->finished() || !post_.empty(); ++turns) {
      check(turns < 1000);
      deliver_all();
      pass_time();
    }
    return std::move(letters_);
  }

 private:
  void hear(size_t owner, const Bytes& message) {
    append_letter(letters_, owner, message);
    auto step = *learner_->step(owner, message);
    for (auto& each : step.messages) post_.push_back(std::move(each));
  }
  void deliver_all() {
    for (; !post_.empty(); post_.pop_front()) {
      const protocol::Outgoing letter = post_.front();
      if (letter.owner == 0) append_letter(letters_, job_.to_owner(), letter.message);
      protocol::Owner& owner = *owners_[letter.owner];
      const auto reply = *owner.step(letter.message);
      if (reply) hear(letter.owner, *reply);
      while (const auto more = owner.more()) hear(letter.owner, *more);
    }
  }
  void pass_time() {
    if (learner_->finished() || !learner_->pace().own_clocks) return;
    append_letter(letters_, job_.time(), Bytes{uint8_t(Time::kCall)});
    for (auto& each : learner_->call()) post_.push_back(std::move(each));
    deliver_all();
    for (size_t i = 0; i < owners_.size(); ++i) {
      if (i == 0) append_letter(letters_, job_.time(), Bytes{uint8_t(Time::kTick)});
      if (const auto claim = owners_[i]->tick()) hear(i, *claim);
      deliver_all();
    }
  }

  const JobInput& job_;
  std::unique_ptr<protocol::Learner> learner_;
  std::vector<std::unique_ptr<sim::Party>> parties_{};
  std::vector<std::unique_ptr<protocol::Owner>> owners_{};
  std::deque<protocol::Outgoing> post_{};
  Bytes letters_{};
};

/// An honest job behind the byte that chooses it.
inline Bytes played(const std::vector<JobInput>& jobs, size_t which) {
  Bytes input{static_cast<uint8_t>(which)};
  const Bytes letters = PlayedJob(jobs[which]).letters();
  input.insert(input.end(), letters.begin(), letters.end());
  return input;
}

inline const std::vector<JobInput>& async_jobs() {
  static const std::vector<JobInput> jobs{async_job("owner_requests"), async_job("broadcast")};
  return jobs;
}

inline const std::vector<JobInput>& columns_jobs() {
  static const std::vector<JobInput> jobs{columns_job("gradients"), columns_job("statistics"),
                                          columns_job("noisy_sharing"), cells_job(2), cells_job(3)};
  return jobs;
}

}  // namespace parley::test
