#include "parley/protocol/owner.h"

#include <utility>
#include <variant>

#include "parley/ledger/storage/row.h"
#include "parley/protocol/job.h"

namespace parley::protocol {

Owner::Owner(const Hash& charter, std::string name, gate::Gate gate, std::optional<SigningKey> key)
    : charter_(charter),
      name_(std::move(name)),
      stream_(charter),
      gate_(std::move(gate)),
      key_(std::move(key)) {}

Owner::Owner(const Hash& charter, std::string name, std::optional<SigningKey> key)
    : charter_(charter), name_(std::move(name)), stream_(charter), key_(std::move(key)) {}

Bytes Owner::connect() {
  stream_ = wire::Stream(charter_);
  welcomed_ = false;
  return send(greeting());
}

Result<std::optional<Bytes>> Owner::step(ByteView message) {
  refused_.reset();
  repeats_ = false;
  auto received = TRY(stream_.receive_to_owner(message));
  const bool welcome = std::holds_alternative<wire::Welcome>(received.body);
  if (!std::holds_alternative<wire::Abort>(received.body)) TRY(check_turn(welcome));
  auto reply = TRY(std::visit(
      Match{[&](wire::Welcome& welcome) -> Reply {
              TRY(be_welcomed(welcome));
              welcomed_ = true;
              return std::optional<Bytes>();
            },
            [&](wire::ReceivedQuery& query) -> Reply { return consider(std::move(query)); },
            [&](wire::Grant& grant) -> Reply { return be_granted(grant); },
            [&](wire::ToMember& member) -> Reply { return aggregate(std::move(member)); },
            [&](wire::Finished& finished) -> Reply {
              TRY(check_end());
              auto reply = TRY(be_told(finished));
              finished_ = finished.model;
              return reply;
            },
            [&](wire::Sealed& letter) -> Reply { return take(std::move(letter)); },
            [&](wire::DealerShare& share) -> Reply { return take(std::move(share)); },
            [&](wire::Session& session) -> Reply { return take(std::move(session)); },
            [&](wire::IdTokens& tokens) -> Reply { return take(std::move(tokens)); },
            [&](wire::Abort& abort) -> Reply {
              return Error{abort.code, "the learner ended the job: " + abort.text};
            }},
      received.body));
  if (!welcome && !repeats_) ++news_;
  return reply;
}

/// With its welcome a learner shows the receipts that it holds; before this ledger knows them all,
/// nothing is paid.
Result<void> Owner::check_turn(bool welcome) const {
  if (welcome != welcomed_) return {};
  return Error{Code::kIntegrity,
               welcome ? "the learner welcomes this owner twice"
                       : "the learner asks before it has welcomed this owner",
               "Do not answer it, and ask who runs it."};
}

Result<void> Owner::check_end() const {
  if (last_round() >= at_end_.answers && (!at_end_.evaluated || gave_all())) return {};
  return Error{Code::kIntegrity,
               "the learner says that the job has ended after " + std::to_string(last_round()) +
                   " answers of this owner, and under this charter it ends after " +
                   std::to_string(at_end_.answers) +
                   (at_end_.evaluated ? " and the evaluation" : ""),
               "The job has no final model yet: ask who runs the learner. To go on, start again."};
}

Result<void> Owner::be_welcomed(const wire::Welcome& welcome) {
  TRY(check_version(welcome.version));
  for (const wire::Proof& proof : welcome.proofs) TRY(check_proof(proof));
  if (welcome.next_round <= last_round() + 1) return {};
  return Error{Code::kIntegrity,
               "the learner has " + std::to_string(welcome.next_round - 1) +
                   " answers of ours, this ledger knows " + std::to_string(last_round()),
               "The ledger was replaced by an older copy, which forgets what was spent. Put the "
               "newest one back."};
}

Result<void> Owner::check_proof(const wire::Proof& proof) {
  if (!key_) return {};
  const Bytes bytes = wire::signed_bytes(proof.charter, name_, proof.receipt);
  if (!is_signed(key_->public_key(), bytes, proof.signature))
    return Error{Code::kIntegrity, "the learner shows a receipt that this owner did not sign",
                 "Do not answer it, and ask who runs it."};
  return recognise(proof.charter, proof.receipt);
}

Result<std::optional<Bytes>> Owner::be_granted(const wire::Grant&) {
  return Error{Code::kIntegrity, "a grant that nobody claimed"};
}

Result<std::optional<Bytes>> Owner::aggregate(wire::ToMember) {
  return Error{Code::kIntegrity, "a message of secure aggregation, which the charter does not use"};
}

namespace {

Error of_another_protocol() {
  return {Code::kIntegrity, "the learner sends a message of another protocol"};
}

}  // namespace

Result<std::optional<Bytes>> Owner::be_told(const wire::Finished&) {
  return std::optional<Bytes>();
}
Result<std::optional<Bytes>> Owner::take(wire::Sealed) { return of_another_protocol(); }
Result<std::optional<Bytes>> Owner::take(wire::DealerShare) { return of_another_protocol(); }
Result<std::optional<Bytes>> Owner::take(wire::Session) { return of_another_protocol(); }
Result<std::optional<Bytes>> Owner::take(wire::IdTokens) { return of_another_protocol(); }

std::optional<Signature> Owner::sign(ByteView bytes) const {
  return key_ ? std::optional(key_->sign(bytes)) : std::nullopt;
}

Result<std::optional<Bytes>> Owner::answer(const wire::ReceivedQuery& query) {
  using enum privacy::ReleaseKind;
  if (query.kind != kAnswer && query.kind != kEvaluation && query.kind != kGram)
    return Error{Code::kIntegrity, "the learner asks for what this charter does not allow: a " +
                                       std::string(ledger::name_of(query.kind))};
  const uint32_t paid = gate_->paid();
  auto released = query.kind == kEvaluation ? gate_->evaluate(query.round, query.theta)
                  : query.kind == kGram     ? gate_->gram(query.round, query.theta)
                                            : gate_->answer(query.round, query.theta);
  if (!released) return refuse(released.error());
  repeats_ = gate_->paid() == paid;
  const auto signature = sign(released->receipt());
  return std::optional(send(wire::Answer{*std::move(released), signature}));
}

Result<std::optional<Bytes>> Owner::refuse(const Error& error) {
  if (is_our_own(error)) return error;
  refused_ = error;
  return std::optional(send(wire::Refusal{error.code, error.what}));
}

std::optional<Signature> Owner::sign(const privacy::Receipt& receipt) const {
  return sign(wire::signed_bytes(charter_, name_, receipt));
}

}  // namespace parley::protocol
