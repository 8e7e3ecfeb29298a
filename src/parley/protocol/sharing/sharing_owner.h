// An owner of columns in a job of V-B (protocol sharing, rule gradients). It agrees on keys with
// the other owners, sends them its masked columns once and masked scores in every round, paid for
// before they leave, and opens its own part of the noisy gradient. Its part of the model stays
// here.
//
// Whoever comes back, all begin again after the last round that everyone has opened: the dealer's
// masks and noise are the same again, the ledger gives what was paid for, and what is sent is bit
// for bit what was sent.
#pragma once

#include <deque>
#include <functional>
#include <map>

#include "parley/gate/columns_gate.h"
#include "parley/learn/sharing/model_part.h"
#include "parley/protocol/owner.h"
#include "parley/protocol/sharing/gradients.h"
#include "parley/protocol/sharing/pads.h"

namespace parley::protocol {

/// Another owner, as the charter names it.
struct SharingPeer {
  std::string name{};
  std::optional<SignKey> sign_key{};  // none in a simulation
};

/// Keeps a file of the job on this owner's disk: its part of the model, the manifest.
using KeepFile = std::function<Result<void>(const std::string& name, const std::string& text)>;

struct SharingSetting {
  std::vector<SharingPeer> owners{};  // all of the charter, in its order
  Hash records{};                     // of the aligned ids
  Secret32 secret{};                  // that nobody else knows, the same when the process restarts
  /// Of this owner, all but theta, masks and salt.
  learn::PartOfModel part{};
  KeepFile keep{};
};

class SharingOwner final : public Owner {
 public:
  SharingOwner(SharingSetting setting, gate::ColumnsGate gate, Entropy& entropy,
               std::optional<SigningKey> key = std::nullopt);
  SharingOwner(SharingOwner&&) = delete;

  Bytes connect() override;
  std::optional<Bytes> more() override;
  bool gave_all() const override { return part_.has_value(); }
  void rest() override {}

  /// This owner's coefficients, once all rounds are done; for a simulation, which measures them.
  std::vector<double> model() const { return descent_.model(); }
  /// What it has opened: noisy, and its own.
  const std::vector<std::vector<int64_t>>& gradients() const { return gradients_; }
  uint32_t opened() const { return static_cast<uint32_t>(gradients_.size()); }

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
  Hash commitment(std::string_view what, ByteView bytes) const;
  Result<void> agree(const wire::Session& session);
  void return_to(uint32_t round);
  Result<void> take_whole(size_t from, uint32_t round, const Bytes& message);
  void set_up();
  Reply begin_round();
  Result<void> end_round();
  Reply give_part();
  void post(size_t to, uint32_t round, const Bytes& message);
  Reply first_of_outbox();

  SharingSetting setting_;
  gate::ColumnsGate gate_;
  Entropy& entropy_;
  AgreementKey agreement_;
  Hash columns_{};  // commitment to the data

  uint32_t session_ = 0;
  std::map<size_t, Secret32> keys_{}, masks_{};  // shared with each other owner
  std::optional<GradientParty> party_{};
  learn::PartyDescent descent_;
  std::vector<std::vector<int64_t>> gradients_{};  // opened so far
  uint32_t round_ = 0;                             // that is next, or under way
  bool begun_ = false;                             // paid for and sent
  std::optional<wire::DealerShare> share_{};
  std::map<size_t, Bytes> incoming_{};  // letters that are not complete
  std::map<size_t, Words<Word>> masked_{}, shares_{};
  std::optional<std::string> part_{};
  std::deque<Bytes> outbox_{};
};

}  // namespace parley::protocol
