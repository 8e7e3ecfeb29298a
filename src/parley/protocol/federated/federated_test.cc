#include <gtest/gtest.h>

#include <cmath>

#include "parley/ledger/events.h"
#include "parley/protocol/make_learner.h"
#include "support/federated_job.h"

namespace parley::protocol {
namespace federated_test {

using test::Clinics, test::clinics_charter;

/// What a message to an owner is about: 0 the question, then keys, shares, survivors, consents; -1
/// in a sparse graph the commitments, and what else there is.
int stage_of(const Outgoing& letter) {
  const auto message = wire::decode_to_owner(letter.message);
  if (std::holds_alternative<wire::ReceivedQuery>(message->body)) return 0;
  const auto* member = std::get_if<wire::ToMember>(&message->body);
  if (member == nullptr) return -1;
  if (const auto* list = std::get_if<wire::SurvivorList>(&member->step))
    return list->signatures.empty() ? 3 : 4;
  if (std::holds_alternative<wire::CommitmentsHash>(member->step)) return -1;
  return int(member->step.index());
}

/// The first of its kind.
const wire::Note& note_of(const Clinics& job, wire::Note::Kind kind) {
  for (const wire::Note& note : job.journal.notes)
    if (note.kind == kind) return note;
  return check(false), job.journal.notes[0];
}

std::vector<Signature> approvals_of(const Hash& charter, size_t owners) {
  std::vector<Signature> approvals;
  for (size_t i = 0; i < owners; ++i)
    approvals.push_back(test::clinic_key(i).sign(ledger::decision_bytes(
        "clinic-" + std::to_string(i), charter, ledger::Decision::What::kApproved)));
  return approvals;
}

void expect_replayed(const Clinics& job) {
  const auto again = make_learner(job.charter, nullptr, Receipts::kSigned);
  const auto taken = job.journal.in_order(
      [&](const wire::Entry& entry) { return (*again)->replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return (*again)->replay(note); });
  ASSERT_TRUE(taken) << describe(taken.error());
  EXPECT_EQ((*again)->rounds_done(), job.learner.rounds_done());
  EXPECT_EQ((*again)->trained().theta, job.learner.trained().theta);
}

TEST(Federated, AJobEndsAndItsJournalGivesTheSameModel) {
  Clinics job(clinics_charter());
  job.connect_all();
  job.run();
  ASSERT_TRUE(job.learner.finished());
  EXPECT_TRUE(job.refused.empty());
  EXPECT_EQ(job.learner.begun(), 2u);
  for (const auto& owner : job.owners) {
    EXPECT_EQ(owner->process->finished(), model_hash(job.learner.trained().theta));
    EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 2u);
  }
  expect_replayed(job);
}

TEST(Federated, ASparseGraphIsDrawnAnewForEverySum) {
  Clinics job(test::sparse_clinics_charter());
  std::vector<std::vector<Hash>> drawn;
  job.on_down = [&](const Outgoing& letter) {
    const auto message = wire::decode_to_owner(letter.message);
    const auto* member = std::get_if<wire::ToMember>(&message->body);
    const auto* keys = member ? std::get_if<wire::NeighbourKeyList>(&member->step) : nullptr;
    if (keys != nullptr && letter.owner == 0) drawn.push_back(keys->numbers);
  };
  job.connect_all();
  job.run();
  ASSERT_TRUE(job.learner.finished());
  EXPECT_TRUE(job.refused.empty());
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].size(), 7u);
  EXPECT_NE(drawn[0], drawn[1]);
  expect_replayed(job);
}

/// It is begun again before anyone has paid.
TEST(Federated, WithoutAMembersNumberThereIsNoGraph) {
  Clinics job(test::sparse_clinics_charter());
  job.connect_all();
  bool gone = false;
  while (!gone && !job.post.empty()) {
    const auto message = wire::decode_to_owner(job.post.front().message);
    const auto* member = std::get_if<wire::ToMember>(&message->body);
    gone = member && std::holds_alternative<wire::CommitmentsHash>(member->step) &&
           job.post.front().owner == 2;
    gone ? job.leave(2) : void(job.deliver());
  }
  ASSERT_TRUE(gone);
  job.run();
  EXPECT_EQ(job.learner.rounds_done(), 0u);
  for (const auto& owner : job.owners) EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 0u);
  job.owners[2]->restart(job.charter, 2);
  job.connect(2);
  job.run();
  ASSERT_TRUE(job.learner.finished());
  for (const auto& owner : job.owners) EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 2u);
}

/// Theory (F11), for owners with k neighbours of m, and d words.
struct Specified {
  double k, m, d;
  double up() const { return 168 + 114 * k + (40 + 8 * d) + 104 + (41 * k + 40); }
  double down() const { return 314 * k + 3 * m / 8 + 80; }
};

/// Of one owner in one aggregation.
struct Weighed {
  double up = 0, down = 0;           // without what follows
  double question = 0, receipt = 0;  // not counted by (F11)
};

Weighed weigh(size_t owners) {
  Clinics job(clinics_charter(owners));
  Weighed all;
  job.on_up = [&](size_t owner, const Bytes& message) {
    const auto decoded = wire::decode_from_owner(message);
    const auto* member = std::get_if<wire::ReceivedFromMember>(&decoded->body);
    if (owner != 2 || member == nullptr) return;
    const bool masked = std::holds_alternative<wire::ReceivedAnswer>(member->step);
    const double receipt = masked ? double(message.size()) - 40 - 8 * 2 : 0;
    all.receipt += receipt / 2;
    all.up += (double(message.size()) - receipt) / 2;
  };
  job.on_down = [&](const Outgoing& letter) {
    if (letter.owner != 2 || stage_of(letter) < 0) return;
    (stage_of(letter) == 0 ? all.question : all.down) += double(letter.message.size()) / 2;
  };
  job.connect_all();
  job.run();
  EXPECT_TRUE(job.learner.finished());
  return all;  // The job has two aggregations.
}

// What (F11) does not count: the question with theta, the signed receipt of a payment,
// and that owners go by their names (8 or 9 letters here) wherever one is spoken of.
TEST(Federated, BytesAreThoseOfTheFormulaAndWhatIsSignedBesides) {
  constexpr double kName = 9 + 2, kEnvelopes = 80;  // the charter's hash on every message
  constexpr double kOwnConsent = 64;                // in the list that is the same for all
  for (const size_t owners : {3, 10, 30}) {
    const double k = double(owners) - 1;
    const Specified specified{.k = k, .m = double(owners), .d = 2};
    const Weighed all = weigh(owners);
    const std::string of = "_of_" + std::to_string(owners);
    RecordProperty("up" + of, std::to_string(all.up));
    RecordProperty("down" + of, std::to_string(all.down));
    RecordProperty("receipt" + of, std::to_string(all.receipt));
    EXPECT_LE(all.up, specified.up() + kEnvelopes);
    EXPECT_LE(all.down, specified.down() + k * kName + 2 * kEnvelopes + kOwnConsent);
    EXPECT_LE(all.receipt, 400);
    const double approvals = 64 * double(owners) / 2 + 4;  // in the first question of two
    EXPECT_LE(all.question, 8 * 2 + 60 + approvals);
  }
}

TEST(Federated, NothingThatAnOwnerSaysBesideItsMaskedVectorDependsOnItsRecords) {
  std::vector<Bytes> sent[2];
  for (const int world : {0, 1}) {
    Clinics job(clinics_charter());
    job.on_up = [&](size_t owner, const Bytes& message) {
      const auto decoded = wire::decode_from_owner(message);
      const auto* member = std::get_if<wire::ReceivedFromMember>(&decoded->body);
      const bool masked = member && std::holds_alternative<wire::ReceivedAnswer>(member->step);
      if (owner == 0 && job.learner.rounds_done() == 0 && !masked) sent[world].push_back(message);
    };
    if (world == 1) {  // Other records behind the same gate, before anything was drawn.
      auto other = std::make_unique<test::Clinic>(job.charter, 0);
      other->restart(job.charter, 0, test::clinic_rows(7));
      job.owners[0] = std::move(other);
    } else {
      job.owners[0]->restart(job.charter, 0);  // The same draws in both worlds.
    }
    job.connect_all();
    job.run();
    ASSERT_TRUE(job.learner.finished());
  }
  ASSERT_EQ(sent[0].size(), 5u);  // Greeting, keys, shares, consent, opened shares.
  EXPECT_EQ(sent[0], sent[1]);
}

TEST(Federated, AnOwnerThatGoesAtAnyStageIsDoneWithoutIfEnoughAreLeft) {
  for (int stage = 0; stage <= 4; ++stage) {
    Clinics job(clinics_charter(6, "survivors = 5\nthreshold = 4\n"));
    bool gone = false;
    job.connect_all();
    while (!gone && !job.post.empty()) {
      if (job.post.front().owner == 2 && stage_of(job.post.front()) == stage) {
        job.leave(2);
        gone = true;
      } else {
        job.deliver();
      }
    }
    ASSERT_TRUE(gone) << stage;
    job.run();
    EXPECT_EQ(job.learner.rounds_done(), 1u) << stage;  // Then it waits for the one that is away.
    EXPECT_EQ(job.learner.begun(), 1u) << stage;
    job.keep(job.learner.time_is_up(), 0);
    job.run();
    ASSERT_TRUE(job.learner.finished()) << stage;
    EXPECT_EQ(job.owners[2]->ledger.last_round(job.charter.hash), stage <= 2 ? 0u : 1u);
    EXPECT_EQ(job.learner.trained().answers[2], stage <= 2 ? 0u : 1u);
    expect_replayed(job);
  }
}

TEST(Federated, WithTooFewLeftTheRoundIsBegunAgainAndPaidAgain) {
  for (int stage = 0; stage <= 4; ++stage) {
    Clinics job(clinics_charter());
    bool gone = false;
    job.connect_all();
    while (!gone && !job.post.empty()) {
      if (job.post.front().owner == 2 && stage_of(job.post.front()) == stage) {
        job.leave(2);
        gone = true;
      } else {
        job.deliver();
      }
    }
    job.run();
    EXPECT_EQ(job.learner.rounds_done(), 0u) << stage;
    job.owners[2]->restart(job.charter, 2);
    job.connect(2);
    job.run();
    ASSERT_TRUE(job.learner.finished()) << stage;
    EXPECT_EQ(job.learner.begun(), 3u) << stage;
    for (const size_t other : {0, 1})
      EXPECT_EQ(job.owners[other]->ledger.last_round(job.charter.hash), stage <= 1 ? 2u : 3u)
          << stage;
    expect_replayed(job);
  }
}

TEST(Federated, WhenNoPaymentIsLeftTheJobEndsAndSaysWhy) {
  Clinics job(clinics_charter(3, "repeats = 0\n"));
  job.connect_all();
  while (stage_of(job.post.front()) != 3) job.deliver();  // All have paid.
  job.leave(0);
  job.leave(1);
  job.run();
  for (const size_t owner : {0, 1}) job.connect(owner);
  job.run();
  ASSERT_FALSE(job.learner.finished());
  // The second aggregation was paid with the last payment and gave the first round; the second
  // round cannot be paid.
  ASSERT_TRUE(job.learner.refused().has_value());
  EXPECT_EQ(job.learner.refused()->code, Code::kBudgetExhausted);
  EXPECT_EQ(job.learner.rounds_done(), 1u);
  for (const auto& owner : job.owners)
    EXPECT_LE(owner->ledger.spent(owner->dataset).rho,
              owner->ledger.budget(owner->dataset).rho_max);
}

TEST(Federated, ALearnerThatResumesGoesOnWithAnotherAggregation) {
  Clinics job(clinics_charter());
  job.connect_all();
  while (stage_of(job.post.front()) != 3) job.deliver();
  FederatedLearner resumed(*federated_plan(job.charter, nullptr));
  ASSERT_TRUE(job.journal.in_order(
      [&](const wire::Entry& entry) { return resumed.replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return resumed.replay(note); }));
  std::deque<Outgoing> post;
  const auto hear = [&](size_t owner, const Bytes& message) {
    auto step = resumed.step(owner, message);
    ASSERT_TRUE(step) << describe(step.error());
    for (auto& each : step->messages) post.push_back(std::move(each));
  };
  for (size_t i = 0; i < 3; ++i) {
    resumed.attend(i);
    hear(i, job.owners[i]->process->connect());
  }
  for (; !post.empty(); post.pop_front()) {
    const Outgoing letter = post.front();
    const auto reply = job.owners[letter.owner]->process->step(letter.message);
    ASSERT_TRUE(reply) << describe(reply.error());
    if (*reply) hear(letter.owner, **reply);
  }
  EXPECT_TRUE(resumed.finished());
  EXPECT_EQ(resumed.begun(), 3u);
  for (const auto& owner : job.owners) EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 3u);
}

// A learner that makes up owners, or does not ask them, gets nobody's keys.
TEST(Federated, AnOwnerTakesPartOnceItHasSeenThatAllHaveSignedTheCharter) {
  Clinics job(clinics_charter());
  const auto good = approvals_of(job.charter.hash, 3);
  auto short_of_one = good, of_another_owner = good;
  short_of_one.pop_back();
  of_another_owner[2] = good[1];
  auto of_another_charter = good;
  of_another_charter[1] = approvals_of(test::some_hash("another"), 3)[1];
  for (const auto& shown :
       {std::vector<Signature>(), short_of_one, of_another_owner, of_another_charter, good}) {
    wire::Stream stream(job.charter.hash);
    auto& owner = *job.owners[0]->process;
    owner.connect();
    ASSERT_TRUE(owner.step(stream.send(wire::Welcome{})));
    const auto reply = owner.step(stream.send(
        wire::Query{1, privacy::Public::from_model({0, 0}), privacy::ReleaseKind::kAnswer, shown}));
    ASSERT_TRUE(reply);
    EXPECT_EQ(owner.refused().has_value(), shown != good);
    const auto said = wire::decode_from_owner(**reply);
    EXPECT_EQ(std::holds_alternative<wire::Refusal>(said->body), shown != good);
  }
  EXPECT_EQ(job.owners[0]->ledger.last_round(job.charter.hash), 0u);
}

// Of five one may drop out, but not before it has signed.
TEST(Federated, BeginsWhenEveryOwnerHasSignedAndGoesOnFromAJournalWithoutOne) {
  Clinics job(clinics_charter(5, "survivors = 4\n"));
  for (size_t i = 0; i < 4; ++i) job.connect(i);
  job.run();
  job.keep(job.learner.time_is_up(), 0);
  EXPECT_EQ(job.learner.begun(), 0u);
  EXPECT_TRUE(job.learner.awaits(4));
  job.connect(4);
  job.leave(4);
  FederatedLearner resumed(*federated_plan(job.charter, nullptr));
  for (const wire::Note& note : job.journal.notes)
    if (note.kind == wire::Note::Kind::kApproved) {
      ASSERT_TRUE(resumed.replay(note));
    }
  for (size_t i = 0; i < 4; ++i) {
    resumed.attend(i);
    ASSERT_TRUE(resumed.step(i, job.owners[i]->process->connect()));
  }
  EXPECT_EQ(resumed.begun(), 0u) << "its time is not up";
  resumed.time_is_up();
  EXPECT_EQ(resumed.begun(), 1u);
}

TEST(Federated, AGreetingWithoutASignatureBeginsNothing) {
  Clinics job(clinics_charter());
  for (size_t i = 0; i < 2; ++i) job.connect(i);
  job.run();
  wire::Stream stream(job.charter.hash);
  job.learner.attend(2);
  ASSERT_TRUE(job.learner.step(2, stream.send(wire::Hello{})));
  EXPECT_FALSE(job.learner.is_ready());
  job.learner.time_is_up();
  EXPECT_EQ(job.learner.begun(), 0u);
}

TEST(Federated, ASignatureThatIsNotTheOwnersIsNotTaken) {
  Clinics job(clinics_charter());
  wire::Stream stream(job.charter.hash);
  job.learner.attend(0);
  wire::Hello hello;
  hello.approval = approvals_of(job.charter.hash, 2)[1];
  EXPECT_FALSE(job.learner.step(0, stream.send(hello)));
  const wire::Note note{
      .kind = wire::Note::Kind::kApproved, .owner = "clinic-0", .approval = hello.approval};
  EXPECT_FALSE(job.learner.replay(note));
}

TEST(Federated, AnAggregationIsNotBegunTwiceWithOneOwner) {
  Clinics job(clinics_charter());
  job.connect_all();
  while (stage_of(job.post.front()) != 1) job.deliver();
  wire::Stream stream(job.charter.hash);
  auto& owner = *job.owners[0]->process;
  owner.connect();
  ASSERT_TRUE(owner.step(stream.send(wire::Welcome{})));
  const auto ask = [&](uint32_t attempt) {
    return owner.step(stream.send(wire::Query{attempt, privacy::Public::from_model({0, 0})}));
  };
  ASSERT_TRUE(ask(1));
  ASSERT_TRUE(owner.refused().has_value());
  EXPECT_EQ(owner.refused()->code, Code::kIntegrity);
  ASSERT_TRUE(ask(2));
  EXPECT_FALSE(owner.refused().has_value());
}

TEST(Federated, AMaskedVectorUnderAnotherReceiptOrForAnotherQuestionIsRefused) {
  Clinics job(clinics_charter());
  job.connect_all();
  job.run();
  const wire::Entry entry = job.journal.entries[0];
  const auto refused = [&](const std::function<void(wire::ReceivedAnswer&)>& change) {
    FederatedLearner learner(*federated_plan(job.charter, nullptr));
    EXPECT_TRUE(learner.replay(note_of(job, wire::Note::Kind::kBegun)));
    wire::ReceivedAnswer answer = entry.answer;
    change(answer);
    const auto taken = learner.replay(entry.owner, answer);
    return taken ? "" : taken.error().what;
  };
  using wire::ReceivedAnswer;
  EXPECT_EQ(refused([](ReceivedAnswer&) {}), "");
  EXPECT_NE(refused([](ReceivedAnswer& a) { ++a.values[0]; }).find("other numbers"),
            std::string::npos);
  EXPECT_NE(refused([](ReceivedAnswer& a) { a.receipt.epsilon_spent = 0; }).find("did not sign"),
            std::string::npos);
  EXPECT_NE(refused([](ReceivedAnswer& a) { a.signature.reset(); }).find("did not sign"),
            std::string::npos);
  EXPECT_NE(refused([](ReceivedAnswer& a) { a.receipt.query[0] ^= 1; }).find("another question"),
            std::string::npos);
  EXPECT_NE(refused([](ReceivedAnswer& a) { a.values.pop_back(); }).find("numbers instead"),
            std::string::npos);
}

TEST(Federated, ASumThatIsNotThatOfTheMaskedVectorsIsNotBelieved) {
  Clinics job(clinics_charter());
  job.connect_all();
  job.run();
  const auto holds = [&](const std::function<void(wire::Note&)>& change) {
    wire::Transcript changed = job.journal;
    for (wire::Note& note : changed.notes)
      if (note.kind == wire::Note::Kind::kSum) change(note);
    FederatedLearner learner(*federated_plan(job.charter, nullptr));
    return bool(changed.in_order(
        [&](const wire::Entry& entry) { return learner.replay(entry.owner, entry.answer); },
        [&](const wire::Note& note) { return learner.replay(note); }));
  };
  EXPECT_TRUE(holds([](wire::Note&) {}));
  EXPECT_FALSE(holds([](wire::Note& note) { ++note.values[0]; }));
  EXPECT_FALSE(holds([](wire::Note& note) { note.masks[0].seed[0] ^= 1; }));
  EXPECT_FALSE(holds([](wire::Note& note) { note.masks[0].missing = true; }));
  EXPECT_FALSE(holds([](wire::Note& note) { note.masks.pop_back(); }));
}

TEST(Federated, ASumUnderAMadeUpSeedIsNotOneThatTheOwnersCanHave) {
  Clinics job(clinics_charter());
  job.connect_all();
  job.run();
  const wire::Note& true_sum = note_of(job, wire::Note::Kind::kSum);
  wire::Note made_up = true_sum;
  made_up.masks[0].seed[0] ^= 1;
  std::vector<uint64_t> sum(2);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 2; ++j)
      sum[j] += static_cast<uint64_t>(job.journal.entries[i].answer.values[j]);
  without_masks(sum, made_up.masks);
  made_up.values.assign(sum.begin(), sum.end());
  FederatedLearner learner(*federated_plan(job.charter, nullptr));
  ASSERT_TRUE(learner.replay(note_of(job, wire::Note::Kind::kBegun)));
  for (size_t i = 0; i < 3; ++i) {
    const wire::Entry& entry = job.journal.entries[i];
    ASSERT_TRUE(learner.replay(entry.owner, entry.answer));
  }
  const auto taken = learner.replay(made_up);
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().what.find("can have"), std::string::npos) << taken.error().what;
  EXPECT_TRUE(learner.replay(true_sum));
}

}  // namespace federated_test
}  // namespace parley::protocol
