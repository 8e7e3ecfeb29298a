// An owner of columns in a job without a dealer. Every two owners make shares of the products of
// their columns (cells/pair_setup.h) and test them. When all owners have said that all their pairs
// have passed, the release begins: rule statistics opens the products once (moments_owner.h), rule
// gradients makes rounds of them (rounds_owner.h). The learner relays letters; privacy does not
// depend on it.
//
// If it is not known yet which records all owners have, they find out first (ids/search.h), in a
// session of its own. A list of ids that an owner has committed to is kept: no second list is
// answered in a job.
//
// Letters of a session between two owners, numbered, one after the other in both directions:
//
//   1         what this owner has kept of an earlier session of the two
//   2 ...     set-up and test, if neither has kept any
//   then      that all pairs of this owner have passed: before that nobody pays
//   then      those of the release
//
// Whenever a session begins anew, an owner sends what it has kept again, bit for bit (files.h).
#pragma once

#include "parley/protocol/vertical/ids/search.h"
#include "parley/protocol/vertical/owner.h"
#include "parley/protocol/vertical/pair/files.h"

namespace parley::protocol {

class CellsOwner : public VerticalOwner {
 protected:
  CellsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
             std::optional<SigningKey> key);

  /// What was kept of sessions with all others, by an earlier process too.
  virtual Result<void> recall(PairFiles::Found found) = 0;
  /// The session of which it has kept a share with that owner; none before.
  virtual Hash kept_session(size_t other) const = 0;
  virtual size_t kept_pairs() const = 0;
  /// Keeps a session that was tested, before its last letter leaves.
  virtual Result<void> keep_tested(size_t other, const privacy::ToMask<ot::PairShare>& share,
                                   ot::Role role, const Hash& session) = 0;
  /// What else a first letter tells, and another's.
  virtual Bytes standing() const { return {}; }
  virtual Result<void> take_standing(size_t other, ByteView standing);
  /// A session begins: what an earlier one heard is forgotten.
  virtual Result<void> forget_session(uint32_t first_round) = 0;
  /// All pairs of all owners have passed.
  virtual Result<void> begin_release() = 0;
  /// A letter of the release, also before this owner's begins, if the other's has.
  virtual Result<void> take_release(size_t from, const Bytes& letter) = 0;

  const std::string& name_of(size_t other) const { return setting_.owners[other].name; }
  std::vector<size_t> others() const;
  void say(size_t to, ByteView letter) { post(to, ++pairs_.at(to).said, letter); }
  void say_to_all(ByteView letter);
  /// Nothing is due from it any more.
  void hear_no_more(size_t from) { pairs_.at(from).due = Due::kNothing; }
  bool is_released() const { return released_; }
  std::vector<double> model() const override { return model_; }

  PairFiles files_;
  std::vector<double> model_{};

 private:
  /// What is due from another owner in this session.
  enum class Due { kStanding, kSetUp, kReady, kRelease, kNothing };
  struct Pair {
    Due due = Due::kStanding;
    uint32_t said = 0, heard = 0;  // letters
    std::optional<ot::PairSetup> setup{};
  };

  void get_ready() override;
  Result<void> begin_alignment() override;
  Result<void> take_ids(size_t from, uint32_t number, const Bytes& letter) override;
  Result<void> take_common(const learn::IdDigests& tokens) override;
  Result<void> heard_of_ids(Result<IdsSaid> said);
  Result<void> begin_session(uint32_t first_round) override;
  bool is_due(size_t from, const wire::LetterHead& head) const override;
  Result<void> take_letter(size_t from, uint32_t number, Bytes letter) override;
  Result<void> forget() override { return files_.forget(); }

  Result<void> end(const Error& error);
  Result<void> heard(size_t from, const Bytes& letter);
  Hash session_hash() const;
  Result<void> begin(size_t other, const Bytes& their_standing);
  Result<void> set_up(size_t other);
  Result<void> be_ready();
  Result<void> release_if_all_are_ready();

  std::unique_ptr<IdSearch> ids_{};  // while it is found out which all have
  bool recalled_ = false;
  std::set<size_t> testing_{};  // pairs whose test has begun and not passed

  // Of this session.
  std::map<size_t, Pair> pairs_{};
  bool ready_ = false, released_ = false;
};

}  // namespace parley::protocol
