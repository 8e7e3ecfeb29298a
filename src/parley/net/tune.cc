#include "parley/net/tune.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "parley/base/files.h"
#include "parley/gate/own_file.h"
#include "parley/net/owner.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/terms.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/peers/own_model.h"
#include "parley/protocol/trained_model.h"
#include "parley/wire/gossip.h"
#include "parley/wire/transcript_file.h"

namespace parley::net {
namespace {

using charter::Charter, charter::OwnerLearner, charter::Policy;

Result<size_t> learner_place(const Policy& policy, const Charter& charter) {
  const auto& how = charter.protocol.learners.owner;
  if (how != OwnerLearner::kOthersFirst && how != OwnerLearner::kStatistics)
    return Error{
        Code::kInvalid,
        "leaves nothing to tune: its model has the learner's rows in it, or no owner learns",
        "Tuning is for \"others_first\" and \"statistics\".",
        {.key = "protocol.owner_learner"}};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == policy.owner &&
        (charter.protocol.learners.copies || policy.owner == charter.learner.name))
      return i;
  return Error{Code::kPolicy, policy.owner + " is not the learner of this charter",
               "Only the owner that learned adds its own rows."};
}

struct Learned {
  Charter job;
  protocol::Trained trained;
  wire::Transcript transcript;
  std::shared_ptr<const data::Rows> pilot;
};

/// The job again, from what its owners signed.
Result<Learned> learn_again(const Policy& policy, const Charter& charter,
                            const std::filesystem::path& file) {
  const std::filesystem::path folders[] = {charter.folder, policy.folder};
  Learned learned{TRY(plan::learners_job(charter, policy.owner)), {}, {}, {}};
  learned.pilot = TRY(charter::load_pilot(charter, folders));
  learned.transcript = TRY(wire::read_transcript(file));
  const auto learner =
      TRY(protocol::make_learner(learned.job, learned.pilot.get(), protocol::Receipts::kSigned));
  const auto wrong = [&](const std::string& what) {
    return Error{Code::kIntegrity,
                 what,
                 "Ask `parley verify` what is wrong with it.",
                 {.file = file.string()}};
  };
  if (learned.transcript.charter != learned.job.hash)
    return wrong("is the transcript of another job");
  const auto taken = learned.transcript.in_order(
      [&](const wire::Entry& entry) { return learner->replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return learner->replay(note); });
  if (!taken) return wrong("holds " + taken.error().what);
  if (!learner->finished()) return wrong("ends before the job does");
  learned.trained = learner->trained();
  return learned;
}

/// What each owner has spent on a published model.
protocol::Trained together(const Charter& charter, size_t place, const protocol::Trained& others,
                           const privacy::Released& own) {
  const plan::Terms terms = *plan::terms_for(charter, place);  // The gate was opened with them.
  protocol::Trained all{
      .theta = protocol::published_model(own.values(), terms.lattice.gamma(), terms.box)};
  all.spent = others.spent, all.answers = others.answers;
  const auto at = static_cast<std::ptrdiff_t>(place);
  all.spent.insert(all.spent.begin() + at, {.epsilon = own.receipt().epsilon_spent});
  all.answers.insert(all.answers.begin() + at, 1);
  return all;
}

/// Through gate and ledger, like any answer.
Result<Tuned> publish(const Policy& policy, const Ready& ready, size_t place, Learned learned,
                      const std::filesystem::path& out, Entropy& entropy, Clock& clock) {
  const Charter& charter = ready.charter;
  Tuned tuned{charter.name, out, true, 0, out};
  tuned.transcript.replace_extension(".transcript.pb.zst");
  TRY(must_be_absent(out));
  TRY(must_be_absent(tuned.transcript));
  ledger::Ledger ledger = TRY(open_ledger(policy, clock));
  std::mutex mutex;
  auto gate = TRY(open_gate({policy, ledger, entropy, mutex}, ready, charter));
  const auto released = TRY(gate.answer(1, learned.trained.theta));
  const Signature signature =
      ready.key.sign(wire::signed_bytes(charter.hash, policy.owner, released.receipt()));
  learned.transcript.entries.push_back(
      {policy.owner, wire::Relayed(policy.owner, released, signature).answer()});
  const Hash hash = TRY(wire::write_transcript(tuned.transcript, learned.transcript));
  const learn::Training training{.started = learned.transcript.started,
                                 .transcript_sha256 = to_hex(hash)};
  const auto all = together(charter, place, learned.trained, released);
  TRY(learn::write_model(out, protocol::trained_model(charter, all, training)));
  tuned.epsilon_spent = released.receipt().epsilon_spent;
  return tuned;
}

/// In a file for its owner's eyes.
Result<Tuned> keep(const Policy& policy, const Ready& ready, size_t place, const Learned& learned,
                   const TuneOptions& options) {
  const auto others = TRY(protocol::from_others(ready.charter, place, learned.pilot.get(),
                                                learned.transcript.entries, learned.trained));
  if (!ready.records)
    return Error{Code::kInvalid,
                 "tuning must read the rows, which stay in the database",
                 "Leave out engine in the policy.",
                 {.key = "dataset.engine"}};
  const gate::OwnModel own = ready.records->map([&](const data::AnyRows& rows) {
    return protocol::own_model(ready.charter, others, rows, static_cast<int>(policy.threads));
  });
  const learn::Training training{.started = learned.transcript.started,
                                 .transcript_sha256 = to_hex(TRY(hash_file(options.transcript)))};
  const auto model = protocol::trained_model(learned.job, learned.trained, training);
  TRY(gate::OwnFile::write(options.out, own, model, policy.owner));
  return Tuned{ready.charter.name, options.out};
}

}  // namespace

Result<Tuned> tune(const Policy& policy, Charter charter, const TuneOptions& options,
                   Entropy& entropy, Clock& clock) {
  const size_t place = TRY(learner_place(policy, charter));
  const Ready ready = TRY(get_ready(policy, std::move(charter), clock));
  Learned learned = TRY(learn_again(policy, ready.charter, options.transcript));
  if (ready.charter.protocol.learners.publish)
    return publish(policy, ready, place, std::move(learned), options.out, entropy, clock);
  return keep(policy, ready, place, learned, options);
}

}  // namespace parley::net
