#include "parley/protocol/vertical/pair/rounds_owner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/pair_agencies.h"

namespace parley::protocol {
namespace rounds_owner_test {

using pair_test::Agencies, pair_test::Agency, pair_test::kRecords;

constexpr uint32_t kRounds = 3;
constexpr const char* kSteps =
    "rule = \"gradients\"\nrounds = 3\nstep = 0.3\nmomentum = 0.5\nmodel_bits = 8\n";

std::string two(double epsilon = 1) { return test::cells_charter(epsilon, kRecords, kSteps); }
std::string three(double epsilon = 1) {
  return test::three_cells_charter(epsilon, kRecords, kSteps);
}

constexpr const char* kForgotten = "{\"format\":\"parley.session/2\",\"session\":\"\"}\n";

/// What all owners' gradients are without noise, at these coefficients.
std::vector<std::vector<double>> exact_gradients(const plan::VerticalTerms& terms,
                                                 const std::vector<std::vector<int64_t>>& n) {
  std::vector<WipedVector<int64_t>> rows;
  std::vector<int64_t> scores(kRecords);
  for (size_t m = 0; m < n.size(); ++m) {
    const learn::CellColumns& cells = terms.cells[m];
    rows.push_back(learn::rows_of(cells.cells(), cells.leaves(test::cells_rows(m, kRecords)),
                                  cells.columns()));
    for (size_t i = 0; i < kRecords; ++i) {
      const int64_t* row = rows[m].data() + i * cells.columns();
      for (size_t j = 0; j < n[m].size(); ++j) scores[i] += row[j] * n[m][j];
      if (m == terms.label_holder) scores[i] -= terms.grid->kappa * row[n[m].size()];
    }
  }
  std::vector<std::vector<double>> gradients;
  for (size_t m = 0; m < n.size(); ++m) {
    gradients.emplace_back(n[m].size());
    for (size_t i = 0; i < kRecords; ++i)
      for (size_t j = 0; j < n[m].size(); ++j)
        gradients[m][j] += double(rows[m][i * terms.cells[m].columns() + j] * scores[i]);
  }
  return gradients;
}

/// Round after round every owner's gradient is that of one place at everyone's coefficients, but
/// for the noise: one of 36 numbers that is off by 8 deviations happens with a probability below
/// 1e-13. The model is what the steps along them lead to.
void expect_training_of_one_place(const std::string& text) {
  Agencies job(text);
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  ASSERT_EQ(job.ending(), "finished");
  const auto terms = *plan::vertical_terms(job.charter);
  std::vector<learn::PartyDescent> descents;
  for (size_t m = 0; m < job.owners.size(); ++m) descents.push_back(terms.descent(m));
  for (uint32_t round = 0; round < kRounds; ++round) {
    std::vector<std::vector<int64_t>> n;
    for (const auto& descent : descents) n.push_back(terms.grid->nearest(descent.point()));
    const auto exact = exact_gradients(terms, n);
    for (size_t m = 0; m < n.size(); ++m) {
      const Opened& opened = job.owners[m]->opened().at(round);
      ASSERT_EQ(opened.size(), exact[m].size());
      std::vector<double> gradient;
      for (size_t j = 0; j < opened.size(); ++j) {
        EXPECT_NEAR(double(opened[j]), exact[m][j], 8 * terms.deviation()) << round << " of " << m;
        gradient.push_back(double(opened[j]) * terms.unit());
      }
      descents[m].take(gradient, kRecords);
    }
  }
  for (size_t m = 0; m < job.owners.size(); ++m) {
    const auto& owner = job.owners[m];
    EXPECT_EQ(owner->ledger.last_round(job.charter.hash), kRounds);
    EXPECT_EQ(*owner->process->part_of_model(), descents[m].model());
    EXPECT_EQ(owner->files.at("session.json"), kForgotten);
    EXPECT_EQ(owner->files.at("pools.json"), "{\"format\":\"parley.pools/1\",\"pools\":{}}\n");
  }
}

TEST(RoundsOwner, RoundsAreThoseOfOnePlaceButForTheNoise) {
  for (const double epsilon : {1., 1000.}) {
    expect_training_of_one_place(two(epsilon));
    expect_training_of_one_place(three(epsilon));
  }
}

TEST(RoundsOwner, ALedgerIsChargedForEachRound) {
  Agencies job(two());
  ASSERT_FALSE(job.run());
  const auto terms = *plan::vertical_terms(job.charter);
  for (const auto& owner : job.owners) {
    const auto spent = owner->ledger.spent(owner->dataset);
    EXPECT_GE(spent.rho, kRounds * terms.cost().amount);
    EXPECT_LE(spent.rho, kRounds * terms.cost().amount * (1 + 1e-12));
  }
}

/// That all pairs have passed, which is as long as a letter 3.
bool is_ready(const Bytes& text) {
  return std::ranges::equal(text, as_bytes("all pairs have passed"));
}

/// At no time has an owner written a letter 2 or 3 of a round that its ledger does not have.
TEST(RoundsOwner, NothingOfARoundLeavesBeforeItIsPaidFor) {
  Agencies job(two());
  const auto terms = *plan::vertical_terms(job.charter);
  pair_test::Ghostwriter first(job.charter, 0, 1);
  size_t letters = 0;
  job.on_the_way = [&](Outgoing& next) {
    if (next.owner == 1)
      first.rewrite(next, [&](Bytes& text) {
        const size_t bits = terms.columns[1] * size_t(terms.grid->bits);
        if (!job.owners[0]->files.contains("pools.json") || is_ready(text)) return false;
        if (text.size() == sizeof(Word) * bits * terms.columns[0] ||
            text.size() == 7 * terms.columns[1]) {
          ++letters;
          EXPECT_GE(job.owners[0]->ledger.last_round(job.charter.hash), (letters + 1) / 2);
        }
        return false;
      });
  };
  ASSERT_FALSE(job.run());
  EXPECT_EQ(letters, 2 * kRounds);
}

// After a crash: the same again, or a refusal that says why.

bool is_known(const std::string& ending) {
  return ending == "finished" || ending.find("broke off before its verdict") != std::string::npos ||
         ending.find("have not kept the same session") != std::string::npos;
}

/// `job` has had a crash: it ends as without one, bit for bit, or nobody has paid.
void expect_same_or_why(Agencies& job, const Agencies& honest, bool same, const std::string& when) {
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << when << ": " << describe(*wrong);
  EXPECT_EQ(job.restarts, 1u) << when;
  ASSERT_TRUE(is_known(job.ending())) << when << ": " << job.ending();
  if (job.ending() != "finished") {
    EXPECT_EQ(job.paid(), 0u) << when;
    return;
  }
  for (size_t m = 0; m < job.owners.size(); ++m) {
    EXPECT_EQ(job.owners[m]->ledger.last_round(job.charter.hash), kRounds) << when;
    // After the last round a process that came back may have nothing left to open.
    if (same && !job.owners[m]->opened().empty()) {
      EXPECT_EQ(job.owners[m]->opened(), honest.owners[m]->opened()) << when;
    }
  }
}

void kill_at_writes(const std::string& text, size_t every) {
  Agencies honest(text);
  ASSERT_FALSE(honest.run());
  size_t finished = 0, all = 0;
  for (size_t turn = 2; turn < 2 + 2 * honest.writes; turn += every, ++all) {
    Agencies job(text);
    const bool after = every == 1 ? turn % 2 : turn / 2 % 2;
    job.die_at_write = turn / 2, job.after_writing = after;
    // Each pair writes eight times before rounds begin: what was drawn before is lost, then kept.
    const size_t pairs = job.owners.size() * (job.owners.size() - 1) / 2;
    expect_same_or_why(job, honest, turn / 2 > 8 * pairs,
                       "write " + std::to_string(turn / 2) + (after ? " done" : ""));
    finished += job.ending() == "finished";
  }
  EXPECT_GE(2 * finished, all);
}

void kill_after_messages(const std::string& text, size_t stride) {
  Agencies honest(text);
  ASSERT_FALSE(honest.run());
  size_t finished = 0, all = 0;
  for (size_t message = 1; message < honest.delivered; message += stride, ++all) {
    Agencies job(text);
    job.die_at_message = message;
    expect_same_or_why(job, honest, false, "message " + std::to_string(message));
    finished += job.ending() == "finished";
  }
  EXPECT_GT(finished, all / 2);
}

TEST(RoundsOwner, KilledAtAnyWriteGoesOnWithTheSameOrSaysWhy) { kill_at_writes(two(), 1); }
TEST(RoundsOwner, KilledAfterAnyMessageGoesOnWithTheSameOrSaysWhy) {
  kill_after_messages(two(), 1);
}
TEST(RoundsOwner, OfThreeOneKilledAtAnyWriteGoesOnWithTheSameOrSaysWhy) {
  kill_at_writes(three(), 3);
}
TEST(RoundsOwner, OfThreeOneKilledAfterAMessageGoesOnWithTheSameOrSaysWhy) {
  kill_after_messages(three(), 7);
}

// Attacks: another letter, other data or an older state after a round was answered.

/// Between two simulated owners, whose keys nobody signs, in a session after the one in which they
/// tested their rows: reads what one writes to the other, and may change it.
class Middle {
 public:
  explicit Middle(const charter::Charter& charter) : charter_(charter) {}

  /// Calls change(from, text) for letters; it is sent anew if that returns true.
  template <class Change>
  void rewrite(Outgoing& next, const Change& change) {
    const auto message = wire::decode_to_owner(next.message);
    if (const auto* session = std::get_if<wire::Session>(&message->body)) {
      wire::Session changed = *session;
      for (size_t i = 0; i < changed.peers.size(); ++i) {
        keys_[i] = session->peers[i].key;
        if (i != next.owner) changed.peers[i].key = own_.public_key();
      }
      next.message = wire::encode(message->envelope, changed);
    }
    const auto* letter = std::get_if<wire::Sealed>(&message->body);
    if (letter == nullptr) return;
    const size_t from = letter->head().from == charter_.owners[0].name ? 0 : 1;
    auto text = letter->open(key_with(from), charter_.hash);
    ASSERT_TRUE(text);
    change(from, *text);
    const auto sealed =
        wire::Sealed::seal(key_with(next.owner), charter_.hash, letter->head(), *text, entropy_);
    next.message = wire::encode(message->envelope, wire::Letter{sealed, wire::Leg::kDown});
  }

 private:
  Secret32 key_with(size_t owner) const {
    return *own_.agree(keys_.at(owner), "letters", charter_.hash);
  }
  charter::Charter charter_;
  test::SeededEntropy entropy_{9, "middle"};
  AgreementKey own_ = AgreementKey::draw(entropy_);
  std::map<size_t, Hash> keys_{};
};

/// Two owners until this holds, then with new processes and `change` to their letters.
struct Interrupted {
  Agencies again{two()};
  size_t answers = 0;  // letters 2 of owner 0 afterwards

  explicit Interrupted(const std::function<bool(Agencies&, Outgoing&)>& until) {
    Agencies job(two());
    job.on_the_way = [&](Outgoing& next) { job.stop = until(job, next); };
    EXPECT_FALSE(job.run());
    EXPECT_EQ(job.ending(), "nothing");
    again.owners = std::move(job.owners);
  }
  void run(const std::function<void(size_t, Bytes&)>& change) {
    Middle middle(again.charter);
    const auto terms = *plan::vertical_terms(again.charter);
    const size_t size =
        sizeof(Word) * terms.columns[1] * size_t(terms.grid->bits) * terms.columns[0];
    again.on_the_way = [&](Outgoing& next) {
      middle.rewrite(next, [&](size_t from, Bytes& text) {
        if (from == 0 && text.size() == size) ++answers;
        change(from, text);
        return true;
      });
    };
    const auto wrong = again.run();
    EXPECT_FALSE(wrong) << describe(*wrong);
  }
};

uint32_t round_of(Agencies& job, size_t owner) {
  return job.owners[owner]->ledger.last_round(job.charter.hash);
}

/// Owner 0 has paid for round 2 and answered; owner 1 comes again, with the same or other bits.
TEST(RoundsOwner, OtherBitsOfARoundThatWasAnsweredAreRefused) {
  for (const bool changes : {false, true}) {
    Interrupted job([](Agencies& at, Outgoing&) {
      if (round_of(at, 0) == 2) at.silent = 0;  // It has kept nothing of the round.
      return false;
    });
    job.run([&](size_t from, Bytes& text) {
      if (changes && from == 1 && text.size() == 3) text[1] ^= 4;  // 3 columns of 8 bits
    });
    if (!changes) {
      EXPECT_EQ(job.again.ending(), "finished");
      continue;
    }
    EXPECT_NE(job.again.ending().find("round 2 was paid for other numbers"), std::string::npos)
        << job.again.ending();
    EXPECT_EQ(job.answers, 0u) << "no second answer for one place";
  }
}

/// Owner 0 has released round 2 and keeps which letter 2 that followed from.
TEST(RoundsOwner, AnotherLetterThanThatOnDiskIsRefused) {
  for (const size_t letter : {1u, 2u}) {
    Agencies first(two());
    pair_test::Ghostwriter zero(first.charter, 0, 1);
    size_t releases = 0;
    first.on_the_way = [&](Outgoing& next) {
      if (next.owner == 1)
        zero.rewrite(next, [&](Bytes& text) {
          if (text.size() == 7 * 3 && !is_ready(text) && ++releases == 2) first.silent = 0;
          return false;
        });
    };
    ASSERT_FALSE(first.run());
    ASSERT_EQ(round_of(first, 0), 2u);
    Interrupted job([](Agencies&, Outgoing&) { return true; });
    job.again.owners = std::move(first.owners);
    size_t letters = 0;
    const size_t size = letter == 1 ? 3 : sizeof(Word) * 5 * 8 * 3;
    job.run([&](size_t from, Bytes& text) {
      if (from == 1 && text.size() == size && ++letters == 1) text[1] ^= 1;
    });
    EXPECT_NE(job.again.ending().find("agency-2 has written another letter of round 2"),
              std::string::npos)
        << letter << ": " << job.again.ending();
  }
}

TEST(RoundsOwner, OtherDataInMidJobAreRefused) {
  Interrupted job([](Agencies& at, Outgoing&) { return at.paid() == 4; });
  job.again.rows_seed[1] = 2;
  job.run([](size_t, Bytes&) {});
  EXPECT_NE(job.again.ending().find("paid for other numbers"), std::string::npos)
      << job.again.ending();
}

TEST(RoundsOwner, AnOlderStateThanTheLedgerIsRefused) {
  std::string old;
  Interrupted job([&](Agencies& at, Outgoing&) {
    if (round_of(at, 0) == 1) old = at.owners[0]->files.at("session.json");
    return round_of(at, 0) == 3;
  });
  job.again.owners[0]->files["session.json"] = old;
  job.run([](size_t, Bytes&) {});
  EXPECT_NE(job.again.ending().find("stands at round 1, the ledger at 3"), std::string::npos)
      << job.again.ending();
}

TEST(RoundsOwner, WithoutItsStateAnOwnerThatHasPaidDoesNotBeginAnew) {
  for (const std::string gone : {"session.json", "pools.json"}) {
    Interrupted job([](Agencies& at, Outgoing&) { return round_of(at, 0) == 2; });
    job.again.owners[0]->files.erase(gone);
    const auto wrong = job.again.run();
    const std::string said = wrong ? describe(*wrong) : job.again.ending();
    EXPECT_NE(
        said.find(gone == "session.json" ? "has not kept what that was" : "pools.json is not"),
        std::string::npos)
        << said;
  }
}

/// A letter that the learner delivers twice, or leaves out, in a round.
TEST(RoundsOwner, LettersOutOfOrderEndTheSession) {
  for (size_t nth = 1; nth <= 3; ++nth) {
    Agencies job(two());
    size_t letters = 0;
    job.on_the_way = [&](Outgoing& next) {
      const auto message = wire::decode_to_owner(next.message);
      const auto* letter = std::get_if<wire::Sealed>(&message->body);
      if (letter == nullptr || next.owner != 0 || round_of(job, 0) == 0) return;
      if (++letters == nth) {
        job.post.push_front({next.owner, next.message});
      }
    };
    const auto ended = job.run();
    ASSERT_TRUE(ended) << nth;
    EXPECT_EQ(ended->code, Code::kIntegrity);
    EXPECT_FALSE(job.learner.finished());
  }
}

}  // namespace rounds_owner_test
}  // namespace parley::protocol
