// An owner of columns in a job of two owners without a dealer, rule statistics. The two make shares
// of the products of their columns (cells/pair_setup.h), test them, and open them once, each with
// noise of its own (opening.h). The learner passes letters on and is trusted for nothing.
//
// Where it is not known yet which records both have, the two find out before (ot/intersection.h),
// in a session for that alone. What is promised then is kept: no second list is answered in a job.
//
// Letters of a session, each under its number, one after the other in both directions:
//   1         what this owner has kept of an earlier session
//   2 ...     set-up and test, if neither has kept any
//   then      what leaves: paid for before it does
//   then      the hash of all opened numbers
// What an owner has kept it sends again, bit for bit, whenever a session begins anew (files.h).
#pragma once

#include "parley/protocol/vertical/ot/intersection.h"
#include "parley/protocol/vertical/owner.h"
#include "parley/protocol/vertical/pair/files.h"

namespace parley::protocol {

class PairOwner final : public VerticalOwner {
 public:
  PairOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
            std::optional<SigningKey> key = std::nullopt);

 private:
  void get_ready() override;
  Result<void> begin_alignment() override;
  Result<void> take_ids(size_t from, uint32_t number, const Bytes& letter) override;
  Result<void> heard_of_ids(uint32_t number, const Bytes& letter);
  Result<void> begin_session(uint32_t first_round) override;
  bool is_due(size_t from, const wire::LetterHead& head) const override;
  Result<void> take_letter(size_t from, uint32_t number, Bytes letter) override;
  std::vector<double> model() const override { return model_; }
  Result<void> forget() override { return files_.forget(); }

  size_t other() const { return 1 - self(); }
  const VerticalPeer& peer() const { return setting_.owners[other()]; }
  void say(ByteView letter) { post(other(), ++said_, letter); }
  Result<void> heard(const Bytes& letter);
  Result<void> recall();
  Hash session_hash() const;
  Hash standing() const;
  Result<void> begin(const Bytes& their_standing);
  Result<void> set_up();
  Result<void> open();
  Result<void> take_moments(const Bytes& letter);
  Result<void> conclude(const Bytes& their_hash);
  Hash hash_of_opened() const;

  PairFiles files_;
  std::optional<ot::Intersection> ids_{};  // while it is found out which both have
  uint32_t heard_of_ids_ = 0;              // letters
  bool recalled_ = false;
  std::optional<PairOpening> opening_{};
  std::vector<double> model_{};

  // Of this session.
  enum class Stage { kStanding, kSetUp, kOpening, kComparing, kEnded };
  Stage stage_ = Stage::kStanding;
  uint32_t said_ = 0, heard_ = 0;  // letters
  std::optional<ot::PairSetup> setup_{};
  bool testing_ = false;
  Words<Word> own_{};
};

}  // namespace parley::protocol
