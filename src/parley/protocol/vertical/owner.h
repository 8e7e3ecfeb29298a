// An owner of columns in a job of protocol sharing: what owners with a dealer (dealt/owner.h) and
// without one (pair/owner.h) have in common. It agrees on keys with the other owners, sends them
// sealed letters, pays before anything leaves, and opens what it may see. Its part of the model
// stays here.
//
// Where owners do not know yet which records all of them have, they first find out, in such
// letters; each keeps those, and greets the learner again. With a dealer, where the charter says
// on_mismatch = "intersect", they tell each other digests of their ids.
#pragma once

#include <deque>
#include <functional>
#include <map>

#include "parley/gate/columns_gate.h"
#include "parley/learn/vertical/model_part.h"
#include "parley/protocol/owner.h"
#include "parley/protocol/vertical/exchange.h"
#include "parley/protocol/vertical/pads.h"

namespace parley::protocol {

/// Another owner, as the charter names it.
struct VerticalPeer {
  std::string name{};
  std::optional<SignKey> sign_key{};  // none in a simulation
};

/// Keeps a file of the job on this owner's disk: its part of the model, the manifest.
using KeepFile = std::function<Result<void>(const std::string& name, const std::string& text)>;
/// And gives it back, also to a later process; empty if there is none.
using KeptFile = std::function<Result<std::string>(const std::string& name)>;

struct VerticalSetting {
  std::vector<VerticalPeer> owners{};  // all of the charter, in its order
  Hash records{};                      // of the aligned ids, or of all that are here before
  Secret32 secret{};                   // that nobody else knows, the same when the process restarts
  bool simulated = false;              // owners without a sign_key are taken as they are
  /// Of this owner, all but theta, masks and salt.
  learn::PartOfModel part{};
  KeepFile keep{};
  KeptFile kept{};
};

class VerticalOwner : public Owner {
 public:
  VerticalOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                std::optional<SigningKey> key = std::nullopt);
  VerticalOwner(VerticalOwner&&) = delete;

  Bytes connect() override;
  std::optional<Bytes> more() override;
  bool gave_all() const override { return part_.has_value(); }
  void rest() override {}

  /// Once all rounds are done.
  std::optional<std::vector<double>> part_of_model() const override { return model(); }
  /// What each round has opened to it: noisy.
  const std::vector<Opened>& opened() const { return opened_; }

 protected:
  /// The records are settled.
  virtual void get_ready() = 0;
  /// Keys are agreed on; rounds begin, or begin again, at this one.
  virtual Result<void> begin_session(uint32_t first_round) = 0;
  /// May a letter with this head come now?
  virtual bool is_due(size_t from, const wire::LetterHead& head) const = 0;
  virtual Result<void> take_letter(size_t from, uint32_t number, Bytes letter) = 0;
  /// This owner's coefficients, after the last round.
  virtual std::vector<double> model() const = 0;
  /// Letters by which owners find out which records all of them have.
  virtual Result<void> begin_alignment();
  virtual Result<void> take_ids(size_t from, uint32_t number, const Bytes& list);
  /// To the learner, and from it what all owners have given.
  void post_tokens(const learn::IdDigests& tokens);
  virtual Result<void> take_common(const learn::IdDigests& tokens);
  /// They have, and compare this hash of them.
  void end_alignment(const Hash& records);
  /// The job has ended for all: what was kept to go on from is not needed any more.
  virtual Result<void> forget() { return {}; }

  size_t parties() const { return setting_.owners.size(); }
  size_t self() const { return gate_.owner(); }
  /// Under a number that says where the letter belongs.
  void post(size_t to, uint32_t number, ByteView letter);
  /// A digest that only this owner can make: others cannot try what they guess.
  Hash commitment(const std::vector<Post>& posts) const;
  /// Signed, to the learner.
  void give_receipt(privacy::Released paid);
  /// Ends the job for all, with this reason; letters that are on their way are not read any more.
  Result<void> give_up(const Error& error);
  Result<void> give_part();
  Error mismatch_in(uint32_t round) const;

  VerticalSetting setting_;
  gate::ColumnsGate gate_;
  Entropy& entropy_;
  AgreementKey agreement_;
  Hash columns_{};  // commitment to the data; none before get_ready
  uint32_t session_ = 0;
  std::vector<Hash> session_keys_{};             // of all owners, in the charter's order
  std::map<size_t, Secret32> keys_{}, masks_{};  // shared with each other owner
  bool aligning_ = false, gave_up_ = false;
  std::vector<Opened> opened_{};
  std::optional<std::string> part_{};
  std::deque<Bytes> outbox_{};

 private:
  wire::Hello greeting() override;
  Reply be_told(const wire::Finished& finished) override;
  Reply take(wire::Sealed letter) override;
  Reply take(wire::Session session) override;
  Reply take(wire::IdTokens piece) override;
  uint32_t last_round() const override { return gate_.last_round(); }
  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) override {
    return gate_.recognise(charter, receipt);
  }
  Result<size_t> place_of(const std::string& name) const;
  Result<void> agree(const wire::Session& session);
  Result<Hash> own_part() const;

  std::map<size_t, std::vector<learn::IdDigest>> ids_{};  // the others', while aligning
  std::map<size_t, Bytes> incoming_{};                    // letters that are not complete
  Bytes tokens_{};                                        // nor are these
};

/// Words as letters hold them.
Bytes bytes_of_words(std::span<const Word> words);
Words<Word> words_in(ByteView bytes);

}  // namespace parley::protocol
