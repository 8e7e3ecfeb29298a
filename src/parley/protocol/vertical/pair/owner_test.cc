#include "parley/protocol/vertical/pair/owner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/pair_agencies.h"
#include "support/to_mask.h"

namespace parley::protocol {
namespace pair_owner_test {

using pair_test::Agencies, pair_test::Agency, pair_test::kRecords;

/// All second moments of the whole records, as the layout orders them.
std::vector<double> exact_moments(const plan::VerticalTerms& terms, uint64_t second_seed = 1) {
  std::vector<WipedVector<int64_t>> all(2);
  for (size_t m = 0; m < 2; ++m) {
    const learn::CellColumns& cells = terms.cells[m];
    all[m] = learn::rows_of(cells.cells(),
                            cells.leaves(test::cells_rows(m, kRecords, m ? second_seed : 1)),
                            cells.columns());
  }
  const size_t a = terms.cells[0].columns(), b = terms.cells[1].columns();
  const auto dot = [&](size_t m, size_t j, size_t n, size_t k) {
    int64_t sum = 0;
    for (size_t i = 0; i < kRecords; ++i)
      sum += all[m][i * (m ? b : a) + j] * all[n][i * (n ? b : a) + k];
    return double(sum);
  };
  std::vector<double> moments;
  for (size_t j = 0; j + 1 < a; ++j)
    for (size_t k = j; k + 1 < a; ++k) moments.push_back(dot(0, j, 0, k));
  for (size_t j = 0; j + 1 < a; ++j) moments.push_back(dot(0, j, 0, a - 1));
  for (size_t j = 0; j < a; ++j)
    for (size_t k = 0; k < b; ++k) moments.push_back(dot(0, j, 1, k));
  for (size_t j = 0; j < b; ++j)
    for (size_t k = j; k < b; ++k) moments.push_back(dot(1, j, 1, k));
  return moments;
}

TEST(PairOwner, TwoOwnersOpenTheirMomentsWithNoiseAndKeepTheirParts) {
  Agencies job;
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  EXPECT_EQ(job.ending(), "finished");
  EXPECT_EQ(job.owners[0]->opened(), job.owners[1]->opened());
  for (const auto& owner : job.owners) {
    EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 1u);
    EXPECT_TRUE(owner->process->finished());
    EXPECT_EQ(owner->files.at("session.json"),
              "{\"format\":\"parley.session/1\",\"session\":\"\"}\n");
    EXPECT_TRUE(owner->files.at("rows-test.txt").starts_with("passed"));
  }
  EXPECT_EQ(job.owners[0]->process->part_of_model()->size(), 5u);
  EXPECT_EQ(job.owners[1]->process->part_of_model()->size(), 3u);
}

/// Over 40 jobs, what was opened less the exact sums: on the diagonal of own products v, beside it
/// v/2, of both owners' products v. Sums of 40 times so many squares of normal numbers are within
/// 40 % of their mean but for a probability below 1e-7 (at least 40 * 7 of them).
TEST(PairOwner, EveryNumberHasTheNoiseOfThePlan) {
  double diagonal = 0, beside = 0, both = 0;
  constexpr int kJobs = 40;
  const Agencies any;
  const auto terms = *plan::vertical_terms(any.charter);
  const auto exact = exact_moments(terms);
  for (uint64_t seed = 1; seed <= kJobs; ++seed) {
    Agencies job(1, seed);
    ASSERT_FALSE(job.run());
    const Opened& opened = job.owners[0]->opened()[0];
    ASSERT_EQ(opened.size(), exact.size());
    size_t at = 0;
    const auto square = [&] {
      const double off = double(opened[at]) - exact[at];
      ++at;
      return off * off / terms.noise.variance();
    };
    const auto triangle = [&](size_t d) {
      for (size_t j = 0; j < d; ++j)
        for (size_t k = j; k < d; ++k) (j == k ? diagonal : beside) += square();
    };
    triangle(5);
    for (size_t j = 0; j < 5; ++j) beside += square();
    for (size_t j = 0; j < 6 * 3; ++j) both += square();
    triangle(3);
    EXPECT_EQ(at, exact.size());
  }
  EXPECT_NEAR(diagonal / (8 * kJobs), 1, .4);
  EXPECT_NEAR(beside / (18 * kJobs), .5, .2);
  EXPECT_NEAR(both / (18 * kJobs), 1, .4);
}

/// An owner that takes off its own noise, which it knows, still misses v/2 in every product of both
/// owners' columns: what it is charged for. 60 sessions of 18 products each; the sum of 1080
/// squares of normal numbers is within 25 % of its mean but for a probability of 1e-7.
TEST(PairOpening, EachOwnersNoiseAloneIsWhatIsCharged) {
  const auto charter = *charter::parse_charter(test::cells_charter(1, kRecords), "cells.toml", {});
  const auto terms = *plan::vertical_terms(charter);
  const ot::PairPlan plan = pair_plan(terms, Hash{1});
  test::SeededEntropy entropy(5, "shares");
  double squares[2] = {};
  constexpr int kSessions = 60;
  for (size_t owner = 0; owner < 2; ++owner) {
    test::StoppedClock clock;
    auto ledger = test::memory_ledger(charter.owners[owner].name, clock);
    const auto dataset =
        *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{2.0}, 1e-5, 0));
    const auto gate =
        gate::ColumnsGate::open(gate::Records(data::AnyRows(test::cells_rows(owner, kRecords))),
                                terms, owner, ledger, dataset);
    ASSERT_TRUE(gate);
    for (int session = 0; session < kSessions; ++session) {
      ot::PairShare share;
      share.share = ot::Words(plan.m.columns, plan.k.columns);
      for (uint64_t& word : share.share.values) word = entropy.word();
      ot::reduce(share.share.values);
      const auto known = share.share.values;
      const bool is_m = role_in(plan, owner) == ot::Role::kM;
      const PairOpening opening(privacy::ToMaskForTest::make(std::move(share)),
                                role_in(plan, owner), Hash{2}, draw_secret(entropy));
      const Words<Word> letter = opening.letter(*gate);
      EXPECT_EQ(letter, opening.letter(*gate)) << "never drawn again";
      ASSERT_EQ(letter.size(), letter_size(terms, owner));
      for (size_t j = 0; j < known.size(); ++j) {
        const Word sent = letter[letter.size() - known.size() + j];
        const double noise = double(ot::signed_number(is_m ? sent - known[j] : sent + known[j]));
        squares[owner] += noise * noise / terms.noise.variance();
      }
    }
  }
  for (const double sum : squares) EXPECT_NEAR(sum / (18 * kSessions), .5, .125);
}

TEST(PairOpening, OnDiskItIsSealedAndComesBackTheSame) {
  ot::PairShare share;
  share.share = ot::Words(2, 3);
  for (size_t i = 0; i < 6; ++i) share.share.values[i] = 0x1122334455667700 + i;
  const PairOpening opening(privacy::ToMaskForTest::make(std::move(share)), ot::Role::kM, Hash{2},
                            Secret32{3});
  const Bytes box = opening.sealed(Secret32{4}, Hash{5});
  EXPECT_EQ(std::search(box.begin(), box.end(), opening.session().begin(), opening.session().end()),
            box.end());
  const auto again = PairOpening::unsealed(Secret32{4}, Hash{5}, box);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sealed(Secret32{4}, Hash{5}), box);
  EXPECT_FALSE(PairOpening::unsealed(Secret32{6}, Hash{5}, box));
  EXPECT_FALSE(PairOpening::unsealed(Secret32{4}, Hash{6}, box));
  for (size_t size = 0; size < box.size(); ++size)
    EXPECT_FALSE(PairOpening::unsealed(Secret32{4}, Hash{5}, ByteView(box).first(size)));
}

TEST(PairOpening, LettersOfAnotherLengthOrBeyond56BitsAreRefused) {
  const auto terms = *plan::vertical_terms(
      *charter::parse_charter(test::cells_charter(1, kRecords), "cells.toml", {}));
  Words<Word> first(letter_size(terms, 0)), second(letter_size(terms, 1));
  EXPECT_TRUE(opened_from(terms, first, second));
  EXPECT_FALSE(opened_from(terms, std::span(first).first(first.size() - 1), second));
  EXPECT_FALSE(opened_from(terms, second, first));
  second.back() = Word{1} << 56;
  EXPECT_FALSE(opened_from(terms, first, second));
}

// After a crash: the same again, or a refusal that says why.

const std::set<std::string>& reasons() {
  static const std::set<std::string> known = {"broke off before its verdict",
                                              "have not kept the same session"};
  return known;
}

bool is_known(const std::string& ending) {
  return ending == "finished" || std::any_of(reasons().begin(), reasons().end(), [&](auto& why) {
           return ending.find(why) != std::string::npos;
         });
}

void expect_same_or_why(Agencies& job, const std::string& when) {
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << when << ": " << describe(*wrong);
  EXPECT_EQ(job.restarts, 1u) << when;
  EXPECT_TRUE(is_known(job.ending())) << when << ": " << job.ending();
  for (const auto& owner : job.owners)
    EXPECT_LE(owner->ledger.last_round(job.charter.hash), 1u) << when;
  const auto &first = job.owners[0]->opened(), &second = job.owners[1]->opened();
  const bool forgot = first.empty() || second.empty();  // One that came back after the end has.
  if (job.ending() == "finished") {
    EXPECT_TRUE(first == second || (forgot && first.size() + second.size() == 1)) << when;
  }
}

TEST(PairOwner, KilledAtAnyWriteGoesOnWithTheSameOrSaysWhy) {
  Agencies honest;
  ASSERT_FALSE(honest.run());
  size_t finished = 0;
  for (size_t write = 1; write <= honest.writes; ++write)
    for (const bool after : {false, true}) {
      Agencies job;
      job.die_at_write = write, job.after_writing = after;
      expect_same_or_why(job, "write " + std::to_string(write) + (after ? " done" : ""));
      finished += job.ending() == "finished";
    }
  EXPECT_GT(finished, honest.writes);  // Most goes on.
}

TEST(PairOwner, KilledAfterAnyMessageGoesOnWithTheSameOrSaysWhy) {
  Agencies honest;
  ASSERT_FALSE(honest.run());
  size_t finished = 0, broken = 0;
  for (size_t message = 1; message < honest.delivered; ++message) {
    Agencies job;
    job.die_at_message = message;
    expect_same_or_why(job, "message " + std::to_string(message));
    finished += job.ending() == "finished";
    broken += job.ending().find("before its verdict") != std::string::npos;
  }
  EXPECT_GT(finished, honest.delivered / 2);
  EXPECT_GT(broken, 0u) << "a test that broke off is not begun again";
}

/// Both have paid, and what they sent is on its way.
void stop_before_the_end(Agencies& job) {
  job.on_the_way = [&](Outgoing&) {
    job.stop = job.owners[0]->ledger.last_round(job.charter.hash) +
                   job.owners[1]->ledger.last_round(job.charter.hash) ==
               2;
  };
  ASSERT_FALSE(job.run());
  ASSERT_FALSE(job.learner.finished());
  ASSERT_EQ(job.owners[0]->ledger.last_round(job.charter.hash), 1u);
}

/// With other rows of a peer the same noise would show a difference without any, and other noise
/// would have to be paid again. So after a session was tested there is no other: not with a peer
/// that brings other rows, nor with one that says it has lost everything, nor by this owner itself.
TEST(PairOwner, AfterASessionWasTestedNothingElseIsOpened) {
  Agencies changed;
  stop_before_the_end(changed);
  Agencies again;
  again.owners = std::move(changed.owners);
  again.rows_seed[1] = 2;
  ASSERT_FALSE(again.run());
  EXPECT_NE(again.ending().find("paid for other numbers"), std::string::npos) << again.ending();

  Agencies lost;
  stop_before_the_end(lost);
  Agencies fresh;
  fresh.owners[0] = std::move(lost.owners[0]);
  fresh.rows_seed[1] = 2;
  ASSERT_FALSE(fresh.run());
  EXPECT_NE(fresh.ending().find("have not kept the same session"), std::string::npos)
      << fresh.ending();

  Agencies forgetful;
  stop_before_the_end(forgetful);
  Agencies without;
  without.owners = std::move(forgetful.owners);
  without.owners[0]->files.clear();
  ASSERT_FALSE(without.run());
  EXPECT_NE(without.ending().find("has not kept what that was"), std::string::npos)
      << without.ending();
}

/// A letter that the learner delivers twice, or leaves out.
TEST(PairOwner, LettersOutOfOrderEndTheSession) {
  for (size_t nth = 2; nth < 12; ++nth) {
    Agencies job;
    size_t letters = 0;
    Bytes before;
    job.on_the_way = [&](Outgoing& next) {
      const auto message = wire::decode_to_owner(next.message);
      const auto* letter = std::get_if<wire::Sealed>(&message->body);
      if (letter == nullptr || next.owner != 0) return;
      if (++letters == nth) {
        const auto old = wire::decode_to_owner(before);
        next.message = wire::encode(
            message->envelope, wire::Letter{std::get<wire::Sealed>(old->body), wire::Leg::kDown});
      }
      before = next.message;
    };
    const auto ended = job.run();
    ASSERT_TRUE(ended) << nth;
    EXPECT_EQ(ended->code, Code::kIntegrity);
    EXPECT_FALSE(job.learner.finished());
    EXPECT_FALSE(job.owners[0]->process->part_of_model()->size());
  }
}

/// Whoever writes the charter cannot leave out a peer's key and put itself between two owners.
TEST(PairOwner, AnOwnerWithoutASignKeyIsRefusedByTheOther) {
  Agencies job;
  const SigningKey own = SigningKey::from_seed(Hash{1});
  job.charter.owners[0].sign_key = own.public_key();
  Agency& agency = *job.owners[0];
  auto made = make_owner({.charter = job.charter,
                          .place = 0,
                          .records = gate::Records(data::AnyRows(test::cells_rows(0, kRecords))),
                          .ledger = agency.ledger,
                          .dataset = agency.dataset,
                          .key = own,
                          .entropy = agency.entropy,
                          .columns = {.records = Hash{1}}});
  ASSERT_TRUE(made) << describe(made.error());
  agency.process = *std::move(made);
  job.learner.attend(0);
  job.hear(0, agency.process->connect());
  job.come(1);
  std::optional<Error> ended;
  for (; !job.post.empty() && !ended; job.post.pop_front()) {
    if (job.post.front().owner != 0) continue;
    if (const auto reply = agency.process->step(job.post.front().message); !reply)
      ended = reply.error();
  }
  ASSERT_TRUE(ended);
  EXPECT_NE(ended->what.find("was not signed by its sign_key"), std::string::npos) << ended->what;
}

}  // namespace pair_owner_test
}  // namespace parley::protocol
