// An owner of columns in a job without a dealer, rule statistics. Every two owners make shares of
// the products of their columns (cells/pair_setup.h) and test them. When all owners have said that
// all their pairs have passed, each sends its shares and its own moments, with noise of its own
// (opening.h), to all others. The learner relays letters; privacy does not depend on it.
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
//   then      what leaves: paid for before it does
//   then      the hash of all opened numbers
//
// Whenever a session begins anew, an owner sends what it has kept again, bit for bit (files.h).
#pragma once

#include "parley/protocol/vertical/ids/search.h"
#include "parley/protocol/vertical/owner.h"
#include "parley/protocol/vertical/pair/files.h"

namespace parley::protocol {

class CellsOwner final : public VerticalOwner {
 public:
  CellsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
             std::optional<SigningKey> key = std::nullopt);

 private:
  /// What is due from another owner in this session.
  enum class Due { kStanding, kSetUp, kReady, kMoments, kHash, kNothing };
  struct Pair {
    Due due = Due::kStanding;
    uint32_t said = 0, heard = 0;  // letters
    std::optional<ot::PairSetup> setup{};
    Words<Word> moments{};
    Bytes hash{};
  };

  void get_ready() override;
  Result<void> begin_alignment() override;
  Result<void> take_ids(size_t from, uint32_t number, const Bytes& letter) override;
  Result<void> take_common(const learn::IdDigests& tokens) override;
  Result<void> heard_of_ids(Result<IdsSaid> said);
  Result<void> begin_session(uint32_t first_round) override;
  bool is_due(size_t from, const wire::LetterHead& head) const override;
  Result<void> take_letter(size_t from, uint32_t number, Bytes letter) override;
  std::vector<double> model() const override { return model_; }
  Result<void> forget() override { return files_.forget(); }

  const std::string& name_of(size_t other) const { return setting_.owners[other].name; }
  void say(size_t to, ByteView letter) { post(to, ++pairs_.at(to).said, letter); }
  void say_to_all(ByteView letter);
  bool all_are(Due due) const;
  Result<void> end(const Error& error);
  Result<void> heard(size_t from, const Bytes& letter);
  Result<void> recall();
  Hash session_hash() const;
  Hash standing(size_t other) const;
  Result<void> begin(size_t other, const Bytes& their_standing);
  Result<void> set_up(size_t other);
  Result<void> be_ready();
  Result<void> open_if_all_are_ready();
  Result<void> combine_if_all_are_here();
  Result<void> conclude_if_all_agree();
  Hash hash_of_opened() const;

  PairFiles files_;
  std::unique_ptr<IdSearch> ids_{};  // while it is found out which all have
  bool recalled_ = false;
  std::optional<Opening> opening_{};
  std::set<size_t> testing_{};  // pairs whose test has begun and not passed
  std::vector<double> model_{};

  // Of this session.
  std::map<size_t, Pair> pairs_{};
  bool ready_ = false, compared_ = false;
  Words<Word> own_{};  // once it is paid for
};

}  // namespace parley::protocol
