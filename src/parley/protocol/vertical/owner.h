// An owner of columns in a job of protocol sharing. It agrees on keys with the other owners, sends
// them what the rule says (exchange.h) in sealed letters, each round paid for before any of it
// leaves, and opens what it may see. Its part of the model stays here.
//
// Where the charter says on_mismatch = "intersect", owners first tell each other the digests of
// their ids in such letters; each keeps the records that all have, and greets the learner again.
//
// Whoever comes back, all begin again after the last round that everyone has opened: the dealer's
// masks and noise are the same again, the ledger gives what was paid for, and what is sent is bit
// for bit what was sent.
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
/// And gives it back, also to a later process.
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

class VerticalOwner final : public Owner {
 public:
  VerticalOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                std::optional<SigningKey> key = std::nullopt);
  VerticalOwner(VerticalOwner&&) = delete;

  Bytes connect() override;
  std::optional<Bytes> more() override;
  bool gave_all() const override { return part_.has_value(); }
  void rest() override {}

  /// Once all rounds are done.
  std::optional<std::vector<double>> part_of_model() const override { return exchange_->model(); }
  /// What each round has opened to it: noisy.
  const std::vector<Opened>& opened() const { return opened_; }

 private:
  wire::Hello greeting() override;
  Reply be_told(const wire::Finished& finished) override;
  Reply take(wire::Sealed letter) override;
  Reply take(wire::DealerShare share) override;
  Reply take(wire::Session session) override;
  uint32_t last_round() const override { return gate_.last_round(); }
  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) override {
    return gate_.recognise(charter, receipt);
  }

  size_t parties() const { return setting_.owners.size(); }
  size_t self() const { return gate_.owner(); }
  Result<size_t> place_of(const std::string& name) const;
  Hash commitment(const std::vector<Post>& posts) const;
  Result<void> agree(const wire::Session& session);
  void get_ready();
  void begin_alignment();
  Result<void> take_ids(size_t from, const Bytes& list);
  void return_to(uint32_t round);
  Result<void> begin_round();
  Result<void> end_round();
  Result<void> give_part();
  Result<Hash> own_part() const;
  void post(uint32_t round, const std::vector<Post>& posts);

  VerticalSetting setting_;
  gate::ColumnsGate gate_;
  Entropy& entropy_;
  AgreementKey agreement_;
  Hash columns_{};  // commitment to the data

  uint32_t session_ = 0;
  std::map<size_t, Secret32> keys_{}, masks_{};           // shared with each other owner
  std::map<size_t, std::vector<learn::IdDigest>> ids_{};  // the others', while aligning
  bool aligning_ = false;
  std::unique_ptr<Exchange> exchange_{};  // once records are aligned
  std::vector<Opened> opened_{};
  uint32_t round_ = 0;  // that is next, or under way
  bool begun_ = false;  // paid for and sent
  std::optional<wire::DealerShare> share_{}, next_share_{};
  std::map<Secret32, uint32_t> seeds_{};  // of the dealer, and for which round each was
  std::map<size_t, Bytes> incoming_{};    // letters that are not complete
  std::optional<std::string> part_{};
  std::deque<Bytes> outbox_{};
};

}  // namespace parley::protocol
