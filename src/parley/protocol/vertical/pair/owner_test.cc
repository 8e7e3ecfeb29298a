#include "parley/protocol/vertical/pair/owner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "support/pair_agencies.h"
#include "support/to_mask.h"

namespace parley::protocol {
namespace cells_owner_test {

using pair_test::Agencies, pair_test::Agency, pair_test::kRecords;

/// All second moments of the whole records, as the layout orders them.
std::vector<double> exact_moments(const plan::VerticalTerms& terms) {
  const size_t parties = terms.cells.size();
  std::vector<WipedVector<int64_t>> all;
  std::vector<size_t> width;
  for (size_t m = 0; m < parties; ++m) {
    const learn::CellColumns& cells = terms.cells[m];
    width.push_back(cells.columns());
    all.push_back(learn::rows_of(cells.cells(), cells.leaves(test::cells_rows(m, kRecords)),
                                 cells.columns()));
  }
  std::vector<double> moments;
  const auto add = [&](size_t m, size_t j, size_t n, size_t k) {
    int64_t sum = 0;
    for (size_t i = 0; i < kRecords; ++i)
      sum += all[m][i * width[m] + j] * all[n][i * width[n] + k];
    moments.push_back(double(sum));
  };
  for (size_t m = 0; m < parties; ++m) {
    const size_t features = terms.columns[m];
    for (size_t j = 0; j < features; ++j)
      for (size_t k = j; k < features; ++k) add(m, j, m, k);
    for (size_t j = 0; j < features && width[m] > features; ++j) add(m, j, m, features);
    for (size_t n = m + 1; n < parties; ++n)
      for (size_t j = 0; j < width[m]; ++j)
        for (size_t k = 0; k < width[n]; ++k) add(m, j, n, k);
  }
  return moments;
}

std::string three(double epsilon = 1) { return test::three_cells_charter(epsilon, kRecords); }

TEST(CellsOwner, TwoOwnersOpenTheirMomentsWithNoiseAndKeepTheirParts) {
  Agencies job;
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  EXPECT_EQ(job.ending(), "finished");
  EXPECT_EQ(job.owners[0]->opened(), job.owners[1]->opened());
  for (const auto& owner : job.owners) {
    EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 1u);
    EXPECT_TRUE(owner->process->finished());
    EXPECT_EQ(owner->files.at("session.json"),
              "{\"format\":\"parley.session/2\",\"session\":\"\"}\n");
    EXPECT_TRUE(owner->files.at("rows-test.txt").starts_with("passed"));
  }
  EXPECT_EQ(job.owners[0]->process->part_of_model()->size(), 5u);
  EXPECT_EQ(job.owners[1]->process->part_of_model()->size(), 3u);
}

/// Over 40 jobs, what was opened less the exact sums: on the diagonal of own products v, beside it
/// v/2, of both owners' products v. Sums of 40 times so many squares of normal numbers are within
/// 40 % of their mean but for a probability below 1e-7 (at least 40 * 7 of them).
TEST(CellsOwner, EveryNumberHasTheNoiseOfThePlan) {
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

TEST(CellsOwner, ThreeOwnersOpenTheirMomentsWithNoiseAndKeepTheirParts) {
  Agencies job(three(1000));
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  ASSERT_EQ(job.ending(), "finished");
  const auto terms = *plan::vertical_terms(job.charter);
  const auto exact = exact_moments(terms);
  const Opened& opened = job.owners[0]->opened().at(0);
  ASSERT_EQ(opened.size(), exact.size());
  // One of 70 numbers that is off by 8 deviations happens with a probability below 1e-13.
  for (size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(double(opened[i]), exact[i], 8 * terms.noise.scale()) << i;
  const size_t widths[] = {5, 3, 4};
  for (size_t m = 0; m < 3; ++m) {
    const auto& owner = job.owners[m];
    EXPECT_EQ(owner->opened(), job.owners[0]->opened());
    EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 1u);
    EXPECT_EQ(owner->process->part_of_model()->size(), widths[m]);
    for (size_t other = 0; other < 3; ++other)
      EXPECT_EQ(owner->files.at(kRowsTest).find("passed agency-" + std::to_string(other + 1)) !=
                    std::string::npos,
                other != m);
  }
}

std::unique_ptr<gate::ColumnsGate> gate_of(const charter::Charter& charter, size_t owner,
                                           ledger::Ledger& ledger) {
  const auto dataset =
      *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{2.0}, 1e-5, 0));
  auto gate =
      gate::ColumnsGate::open(gate::Records(data::AnyRows(test::cells_rows(owner, kRecords))),
                              *plan::vertical_terms(charter), owner, ledger, dataset);
  EXPECT_TRUE(gate);
  return std::make_unique<gate::ColumnsGate>(*std::move(gate));
}

/// Owners that take off what they know, all others together, still miss v/2 of an owner's noise in
/// every product of its columns with theirs: what it is charged for. 60 sessions of three owners,
/// each with 7 or more products with another: the sum of at least 60 * 9 squares of normal numbers
/// is within 37 % of its mean but for a probability of 1e-8.
TEST(Opening, EachOwnersNoiseAloneIsWhatIsCharged) {
  const auto charter = *charter::parse_charter(three(), "cells.toml", {});
  const auto terms = *plan::vertical_terms(charter);
  test::SeededEntropy entropy(5, "shares");
  constexpr int kSessions = 60;
  for (size_t owner = 0; owner < 3; ++owner) {
    test::StoppedClock clock;
    auto ledger = test::memory_ledger(charter.owners[owner].name, clock);
    const auto gate = gate_of(charter, owner, ledger);
    std::map<size_t, double> squares;
    std::map<size_t, int> count;
    for (int session = 0; session < kSessions; ++session) {
      Opening opening(draw_secret(entropy));
      std::map<size_t, std::vector<uint64_t>> known;
      for (size_t other = 0; other < 3; ++other) {
        if (other == owner) continue;
        const ot::PairPlan plan = pair_plan(terms, {owner, other}, Hash{1});
        ot::PairShare share;
        share.share = ot::Words(plan.m.columns, plan.k.columns);
        for (uint64_t& word : share.share.values) word = entropy.word();
        ot::reduce(share.share.values);
        const bool is_m = role_in(plan, owner) == ot::Role::kM;
        for (const uint64_t word : share.share.values) known[other].push_back(is_m ? word : -word);
        opening.add(other, privacy::ToMaskForTest::make(std::move(share)), role_in(plan, owner),
                    Hash{2});
      }
      const Words<Word> letter = opening.letter(*gate);
      EXPECT_EQ(letter, opening.letter(*gate)) << "never drawn again";
      ASSERT_EQ(letter.size(), letter_size(terms, owner));
      size_t at = letter.size();
      for (auto pair = known.rbegin(); pair != known.rend(); ++pair) {
        at -= pair->second.size();
        for (size_t j = 0; j < pair->second.size(); ++j) {
          const double noise = double(ot::signed_number(letter[at + j] - pair->second[j]));
          squares[pair->first] += noise * noise / terms.noise.variance();
          ++count[pair->first];
        }
      }
    }
    for (const auto& [other, sum] : squares) {
      EXPECT_GE(count[other], 60 * 9);
      EXPECT_NEAR(sum / count[other], .5, .185) << owner << " with " << other;
    }
  }
}

TEST(Opening, OnDiskItIsSealedAndComesBackTheSame) {
  Opening opening(Secret32{3});
  std::set<Hash> names = {opening.name()};
  for (size_t other : {1u, 2u}) {
    ot::PairShare share;
    share.share = ot::Words(2, 2 + other);
    for (size_t i = 0; i < share.share.values.size(); ++i)
      share.share.values[i] = 0x1122334455667700 + i;
    opening.add(other, privacy::ToMaskForTest::make(std::move(share)), ot::Role::kM,
                Hash{uint8_t(40 + other)});
    EXPECT_TRUE(names.insert(opening.name()).second) << "another key on disk";
  }
  const Bytes box = opening.sealed(Secret32{4}, Hash{5});
  const Hash session = opening.session(2);
  EXPECT_EQ(std::search(box.begin(), box.end(), session.begin(), session.end()), box.end());
  const auto again = Opening::unsealed(Secret32{4}, Hash{5}, box);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sealed(Secret32{4}, Hash{5}), box);
  EXPECT_EQ(again->name(), opening.name());
  EXPECT_FALSE(Opening::unsealed(Secret32{6}, Hash{5}, box));
  EXPECT_FALSE(Opening::unsealed(Secret32{4}, Hash{6}, box));
  for (size_t size = 0; size < box.size(); ++size)
    EXPECT_FALSE(Opening::unsealed(Secret32{4}, Hash{5}, ByteView(box).first(size)));
}

TEST(Opening, LettersOfAnotherLengthOrBeyond56BitsAreRefused) {
  for (const std::string& text : {test::cells_charter(1, kRecords), three()}) {
    const auto terms = *plan::vertical_terms(*charter::parse_charter(text, "cells.toml", {}));
    std::vector<Words<Word>> letters;
    for (size_t m = 0; m < terms.cells.size(); ++m) letters.emplace_back(letter_size(terms, m));
    const auto opened = opened_from(terms, letters);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->size(), terms.numbers(0));
    for (size_t m = 0; m < letters.size(); ++m) {
      auto changed = letters;
      changed[m].pop_back();
      EXPECT_FALSE(opened_from(terms, changed));
      changed[m].resize(letters[m].size() + 1);
      EXPECT_FALSE(opened_from(terms, changed));
      changed[m] = letters[m];
      changed[m].back() = Word{1} << 56;
      EXPECT_FALSE(opened_from(terms, changed));
    }
  }
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
  std::set<Opened> opened;  // One that came back after the end has forgotten.
  for (const auto& owner : job.owners) {
    EXPECT_LE(owner->ledger.last_round(job.charter.hash), 1u) << when;
    for (const Opened& numbers : owner->opened()) opened.insert(numbers);
  }
  if (job.ending() == "finished")
    EXPECT_EQ(opened.size(), 1u) << when;
  else
    EXPECT_EQ(job.paid(), 0u) << when << ": a pair that has not passed, and somebody has paid";
}

/// At each write, before and after it, or with `every` at 2 by turns before the one and after the
/// next.
void kill_at_writes(const std::string& text, size_t every) {
  Agencies honest(text);
  ASSERT_FALSE(honest.run());
  size_t finished = 0, all = 0;
  for (size_t turn = 2; turn < 2 + 2 * honest.writes; turn += every, ++all) {
    Agencies job(text);
    const bool after = every == 1 ? turn % 2 : turn / 2 % 2;
    job.die_at_write = turn / 2, job.after_writing = after;
    expect_same_or_why(job, "write " + std::to_string(turn / 2) + (after ? " done" : ""));
    finished += job.ending() == "finished";
  }
  EXPECT_GE(2 * finished, all);  // Half of it, and most of two owners, goes on.
}

/// Every `stride`th message.
void kill_after_messages(const std::string& text, size_t stride) {
  Agencies honest(text);
  ASSERT_FALSE(honest.run());
  size_t finished = 0, broken = 0, all = 0;
  for (size_t message = 1; message < honest.delivered; message += stride, ++all) {
    Agencies job(text);
    job.die_at_message = message;
    expect_same_or_why(job, "message " + std::to_string(message));
    finished += job.ending() == "finished";
    broken += job.ending().find("before its verdict") != std::string::npos;
  }
  EXPECT_GT(finished, all / 2);
  EXPECT_GT(broken, 0u) << "a test that broke off is not begun again";
}

TEST(CellsOwner, KilledAtAnyWriteGoesOnWithTheSameOrSaysWhy) {
  kill_at_writes(test::cells_charter(1, kRecords), 1);
}
TEST(CellsOwner, KilledAfterAnyMessageGoesOnWithTheSameOrSaysWhy) {
  kill_after_messages(test::cells_charter(1, kRecords), 1);
}
TEST(CellsOwner, OfThreeOneKilledAtAnyWriteGoesOnWithTheSameOrSaysWhy) {
  kill_at_writes(three(), 2);
}
TEST(CellsOwner, OfThreeOneKilledAfterAMessageGoesOnWithTheSameOrSaysWhy) {
  kill_after_messages(three(), 5);
}

std::string session_with(const Agency& agency, const std::string& other) {
  const std::string text = agency.files.at(kRowsTest), with = "with " + other + ", session ";
  const size_t at = text.find(with);
  return at == std::string::npos ? "" : text.substr(at + with.size(), 64);
}

/// While another owner is silent, a pair that has passed is not tested again, however often a
/// session begins anew: each test could tell a bit.
TEST(CellsOwner, APairThatHasPassedIsNotTestedAgainWhenASessionBeginsAnew) {
  Agencies job(three());
  job.silent = 2;
  ASSERT_FALSE(job.run());
  EXPECT_EQ(job.ending(), "nothing");
  EXPECT_EQ(job.paid(), 0u) << "nobody pays before all pairs have passed";
  const std::string tested = session_with(*job.owners[0], "agency-2");
  EXPECT_EQ(tested.size(), 64u);
  EXPECT_EQ(session_with(*job.owners[1], "agency-1"), tested);
  EXPECT_EQ(session_with(*job.owners[0], "agency-3"), "");
  Agencies again(three());
  again.owners = std::move(job.owners);
  ASSERT_FALSE(again.run());
  EXPECT_EQ(again.ending(), "finished");
  EXPECT_EQ(session_with(*again.owners[0], "agency-2"), tested);
  EXPECT_EQ(session_with(*again.owners[1], "agency-1"), tested);
  EXPECT_EQ(session_with(*again.owners[0], "agency-3").size(), 64u);
}

bool has_passed(const Agency& agency, size_t other) {
  return agency.files.contains(kRowsTest) &&
         agency.files.at(kRowsTest).find("passed agency-" + std::to_string(other + 1)) !=
             std::string::npos;
}

/// An owner that has passed with `one` at both ends, and not with the third.
std::optional<size_t> half_way(const Agencies& job, size_t one) {
  for (size_t a = 0; a < 3; ++a)
    if (a != one && has_passed(*job.owners[a], one) && has_passed(*job.owners[one], a) &&
        !has_passed(*job.owners[a], 3 - a - one))
      return a;
  return std::nullopt;
}

/// An owner falls silent while its test with the second of two others is under way. The first of
/// them, whose own pairs have all passed, must not pay for a job that cannot end.
TEST(CellsOwner, NobodyPaysBeforeAllSayThatTheirPairsHavePassed) {
  size_t silenced = 0;
  for (size_t one = 0; one < 3; ++one) {
    Agencies job(three());
    job.on_the_way = [&](Outgoing&) {
      if (!job.silent) job.silent = half_way(job, one);
    };
    ASSERT_FALSE(job.run());
    if (!job.silent) continue;
    ++silenced;
    EXPECT_TRUE(has_passed(*job.owners[one], 3 - *job.silent - one));
    EXPECT_EQ(job.paid(), 0u);
  }
  EXPECT_GT(silenced, 0u);
}

/// Owner 2 opens other numbers to owner 0 than to owner 1: their models would differ, and whoever
/// saw both would see the difference of two noises. All compare what they have opened.
TEST(CellsOwner, AnOwnerThatOpensOtherNumbersToEachIsNoticed) {
  for (const bool changes : {false, true}) {
    Agencies job(three());
    const auto terms = *plan::vertical_terms(job.charter);
    pair_test::Ghostwriter third(job.charter, 2, 1);
    size_t changed = 0;
    job.on_the_way = [&](Outgoing& next) {
      if (next.owner == 2) return;
      third.rewrite(next, [&](Bytes& text) {
        if (text.size() != sizeof(Word) * letter_size(terms, 2) || next.owner != 0) return false;
        ++changed;
        if (changes) text[0] ^= 1;
        return changes;
      });
    };
    const auto wrong = job.run();
    ASSERT_FALSE(wrong) << describe(*wrong);
    EXPECT_EQ(changed, 1u);
    if (!changes) {
      EXPECT_EQ(job.ending(), "finished");
      continue;
    }
    EXPECT_NE(job.ending().find("has opened other numbers than this owner"), std::string::npos)
        << job.ending();
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(job.owners[i]->process->part_of_model()->size(), 0u);
  }
}

/// Each pair has a test of its own: owner 2 keeps to the protocol with owner 1, and changes a word
/// of its rows to owner 0.
TEST(CellsOwner, AnOwnerThatCheatsOneOfTwoOthersIsNamedByThatOne) {
  Agencies job(three());
  const ot::PairPlan plan = pair_plan(*plan::vertical_terms(job.charter), {0, 2}, Hash{});
  const bool is_m = role_in(plan, 2) == ot::Role::kM;
  const size_t words =
      (is_m ? plan.k.cells.size() * ot::kTests : plan.m.cells.size() * plan.k.columns) * kRecords;
  const learn::Cells& cells = is_m ? plan.k.cells : plan.m.cells;
  const size_t corrections = 2 * kRecords * (learn::transfers_of(cells) - cells.size());
  const size_t size = sizeof(ot::Block) * corrections + sizeof(Word) * words;
  pair_test::Ghostwriter third(job.charter, 2, 1);
  size_t changed = 0;
  job.on_the_way = [&](Outgoing& next) {
    if (next.owner == 2) return;
    third.rewrite(next, [&](Bytes& text) {
      if (next.owner != 0 || text.size() != size) return false;
      ++changed;
      text[text.size() - sizeof(Word) + 5] ^= 1;  // 2^40 in one word of one record
      return true;
    });
  };
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  EXPECT_EQ(changed, 1u);
  EXPECT_NE(job.ending().find("the test of rows with"), std::string::npos) << job.ending();
  EXPECT_NE(job.ending().find("failed"), std::string::npos) << job.ending();
  EXPECT_EQ(job.paid(), 0u);
  EXPECT_TRUE(says_begun(job.owners[0]->files.at(kRowsTest), "agency-3"));
  EXPECT_FALSE(says_begun(job.owners[0]->files.at(kRowsTest), "agency-2"));
}

/// Both have paid, and what they sent is on its way.
void stop_before_the_end(Agencies& job) {
  job.on_the_way = [&](Outgoing&) { job.stop = job.paid() == job.owners.size(); };
  ASSERT_FALSE(job.run());
  ASSERT_FALSE(job.learner.finished());
  ASSERT_EQ(job.owners[0]->ledger.last_round(job.charter.hash), 1u);
}

/// With other rows of a peer the same noise would show a difference without any, and other noise
/// would have to be paid again. So after a session was tested there is no other: not with a peer
/// that brings other rows, nor with one that says it has lost everything, nor by this owner itself.
TEST(CellsOwner, AfterASessionWasTestedNothingElseIsOpened) {
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
TEST(CellsOwner, LettersOutOfOrderEndTheSession) {
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
TEST(CellsOwner, AnOwnerWithoutASignKeyIsRefusedByTheOther) {
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

}  // namespace cells_owner_test
}  // namespace parley::protocol
