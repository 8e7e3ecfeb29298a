// Opening trusts a checkpoint that the owner's key has signed, and nothing else: what that saves,
// what it cannot be used for, and what only verification finds.
#include <gtest/gtest.h>

#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "parley/ledger/simulated.h"
#include "parley/ledger/storage/store.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace checkpoint_test {

using namespace test;
namespace fs = std::filesystem;

struct CheckpointTest : testing::Test {
  ~CheckpointTest() override { fs::remove_all(folder); }
  Keeping keeping(const SigningKey& signer) const { return {.key = signer, .checkpoint_rows = 5}; }
  Result<Ledger> open() { return Ledger::open(file, "bank-a", clock, keeping(key)); }
  /// Two charters, `rounds` answers of each.
  void pay_rounds(Ledger& ledger, uint32_t from, uint32_t to) {
    const DatasetId loans = *ledger.declare("loans", pure_budget(100));
    for (uint32_t round = from; round <= to; ++round)
      for (const char* charter : {"first", "second"})
        answers.push_back(bytes_of(*pay(ledger, loans, some_query(charter, round))));
  }
  void make_ledger(uint32_t rounds = 25) {
    Ledger ledger = *open();
    pay_rounds(ledger, 1, rounds);
  }
  Row last_checkpoint() {
    Row last;
    const Contents contents = *read(file);
    for (const Row& row : contents.rows)
      if (row.kind == "checkpoint") last = row;
    return last;
  }
  /// As someone would who knows SQLite; the triggers are there again afterwards.
  void change(const std::string& sql) {
    const std::string all =
        "DROP TRIGGER charge_is_append_only; DROP TRIGGER charge_is_kept;" + sql +
        ";CREATE TRIGGER charge_is_append_only BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, "
        "'the ledger is append-only'); END;"
        "CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, "
        "'the ledger is append-only'); END";
    const auto ran = Connection::write(file)->run(all.c_str());
    ASSERT_TRUE(ran) << describe(ran.error());
  }
  /// Puts it in the place of the last checkpoint, with the right hash, and cuts what follows.
  void put_checkpoint(Row row) {
    row.hash = hash_of(row);
    change("DELETE FROM charge WHERE id >= " + std::to_string(row.id));
    Tables tables(*Connection::write(file));
    ASSERT_TRUE(tables.in_transaction([&] { return tables.insert(row); }));
  }
  std::string why_refused() {
    const auto opened = open();
    if (opened) return "";
    EXPECT_EQ(opened.error().code, Code::kIntegrity);
    return opened.error().what;
  }
  /// What it says, with what was spent on the only data set set to nearly nothing.
  Bytes cheaper(const Bytes& state) {
    std::string text(state.begin(), state.end());
    const size_t at = text.find("true,[") + 6;
    text.replace(at, text.find(',', at) - at, "0.1");
    return {text.begin(), text.end()};
  }
  Signature signed_by(const SigningKey& signer, const Row& row) {
    return signer.sign(read(file)->chain.checkpoint_bytes(row));
  }

  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db";
  const SigningKey key = SigningKey::make(), other = SigningKey::make();
  StoppedClock clock;
  std::vector<Bytes> answers;
};

TEST_F(CheckpointTest, EveryAnswerReplaysToTheByteWhereverTheLedgerWasOpenedInBetween) {
  for (uint32_t life = 0; life < 4; ++life) {
    Ledger ledger = *open();
    pay_rounds(ledger, 10 * life + 1, 10 * life + 10);
  }
  EXPECT_EQ(verify(file)->checkpoints, 2) << "at most every 20 rows for each of two charters";
  Ledger ledger = *open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(100));
  EXPECT_EQ(ledger.last_round(some_hash("second")), 40u);
  EXPECT_NEAR(ledger.spent(loans).pure, 8, 1e-9);
  const Hash head = ledger.head();
  for (const uint32_t round : {40u, 39u, 1u, 17u})
    EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("second", round))), answers[2 * round - 1]);
  EXPECT_EQ(ledger.head(), head);
  EXPECT_EQ(pay(ledger, loans, some_query("second", 3, "another theta")).error().code,
            Code::kIntegrity);
  ASSERT_TRUE(pay(ledger, loans, some_query("second", 41)));
  EXPECT_TRUE(verify(file));
}

TEST_F(CheckpointTest, ReceiptsFromBeforeACheckpointAreRecognised) {
  Ledger ledger = *open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(100));
  std::vector<privacy::Receipt> receipts;
  for (uint32_t round = 1; round <= 50; ++round)
    receipts.push_back(pay(ledger, loans, some_query("job", round))->receipt());
  ASSERT_GT(read(file)->chain.checkpoint(), 0);
  ledger = *Ledger::open_volatile("nobody", clock, Simulated{});  // Closes it.
  ledger = *open();
  for (const auto& receipt : receipts)
    EXPECT_TRUE(ledger.recognise(loans, some_hash("job"), receipt)) << receipt.round;
  receipts[3].chain[0] ^= 1;
  EXPECT_FALSE(ledger.recognise(loans, some_hash("job"), receipts[3]));
}

TEST_F(CheckpointTest, AForgedCheckpointIsRefused) {
  make_ledger();
  Row forged = last_checkpoint();
  ASSERT_GT(forged.id, 40);
  forged.answer = cheaper(forged.answer);
  ASSERT_NE(forged.answer, last_checkpoint().answer);
  put_checkpoint(forged);
  EXPECT_EQ(why_refused(), "is a checkpoint that its key did not sign");
  EXPECT_EQ(verify(file).error().where.key, "row " + std::to_string(forged.id));
}

TEST_F(CheckpointTest, ACheckpointThatAnotherKeySignedCountsForNothingAndMustBeTrue) {
  make_ledger();
  Row forged = last_checkpoint();
  forged.event = note_event(Checkpoint{other.public_key(), signed_by(other, forged)});
  put_checkpoint(forged);
  EXPECT_EQ(why_refused(), "") << "true, and so everything was read";
  ASSERT_TRUE(verify(file)) << describe(verify(file).error());
  Row cheap = forged;
  cheap.answer = cheaper(cheap.answer);
  cheap.event = note_event(Checkpoint{other.public_key(), signed_by(other, cheap)});
  put_checkpoint(cheap);
  EXPECT_EQ(why_refused(), "is a checkpoint that says something else than the rows before it");
}

TEST_F(CheckpointTest, TheCheckpointOfAnotherLedgerIsRefused) {
  make_ledger();
  const Row elsewhere = last_checkpoint();
  fs::remove(file);
  make_ledger();
  Row here = last_checkpoint();
  ASSERT_EQ(here.id, elsewhere.id);
  here.answer = elsewhere.answer;
  here.event = elsewhere.event;
  put_checkpoint(here);
  EXPECT_EQ(why_refused(), "is a checkpoint that its key did not sign");
  here.previous = elsewhere.previous;  // With all that it was signed with, but for the ledger.
  put_checkpoint(here);
  EXPECT_NE(why_refused(), "");
}

TEST_F(CheckpointTest, RowsThatAreGoneFromBeforeACheckpointAreFound) {
  make_ledger();
  const int64_t id = last_checkpoint().id;
  change("DELETE FROM charge WHERE id = " + std::to_string(id - 1));
  EXPECT_EQ(why_refused(), "is missing; the next one is row " + std::to_string(id));
  change("DELETE FROM charge WHERE id < " + std::to_string(id));
  EXPECT_NE(why_refused(), "");
}

TEST_F(CheckpointTest, ACheckpointInAnotherPlaceIsRefused) {
  make_ledger();
  Row moved = last_checkpoint();
  change("DELETE FROM charge WHERE id >= 30");
  moved.id = 30;
  moved.previous = read(file)->head;
  put_checkpoint(moved);
  EXPECT_EQ(why_refused(), "is a checkpoint that its key did not sign");
}

// What trusting it means: docs/threat-model.md, "The ledger".
TEST_F(CheckpointTest, AChangeBeforeItGivesNoBudgetBackAndIsFoundByVerifyAndByReplay) {
  make_ledger();
  change("UPDATE charge SET cost = 0, answer = x'0000000000000000' WHERE id = 7");
  EXPECT_EQ(verify(file).error().where.key, "row 7");
  EXPECT_FALSE(Ledger::open(file, "bank-a", clock)) << "without a key everything is read";
  Ledger ledger = *open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(100));
  EXPECT_NEAR(ledger.spent(loans).pure, 5, 1e-9);
  EXPECT_EQ(ledger.last_round(some_hash("first")), 25u);
  EXPECT_EQ(pay(ledger, loans, some_query("first", 3)).error().code, Code::kIntegrity);
  EXPECT_TRUE(pay(ledger, loans, some_query("first", 26)));
}

TEST_F(CheckpointTest, TheLastAnswerBeforeItIsNotReplayedIfItWasChanged) {
  make_ledger(20);
  {
    const Ledger ledger = *open();
  }
  Row last;
  const Contents contents = *read(file);
  for (const Row& row : contents.rows)
    if (row.charter == some_hash("second") && row.id < contents.chain.checkpoint()) last = row;
  ASSERT_EQ(last.round, 19);
  last.answer[0] ^= 1;
  last.hash = hash_of(last);
  change("DELETE FROM charge WHERE id = " + std::to_string(last.id));
  {
    Tables tables(*Connection::write(file));
    ASSERT_TRUE(tables.in_transaction([&] { return tables.insert(last); }));
  }
  const Ledger ledger = *open();
  EXPECT_EQ(ledger.stored(some_query("second", 19)).error().what,
            "the answer of round 19 is not the one that was paid");
  EXPECT_TRUE(*ledger.stored(some_query("first", 20)));
}

TEST_F(CheckpointTest, OnlyTheOwnersOwnKeyCanMakeAFalseOneAndVerifyFindsIt) {
  make_ledger();
  Row cheap = last_checkpoint();
  cheap.answer = cheaper(cheap.answer);
  cheap.event = note_event(Checkpoint{key.public_key(), signed_by(key, cheap)});
  put_checkpoint(cheap);
  EXPECT_EQ(verify(file).error().where.key, "row " + std::to_string(cheap.id));
}

TEST_F(CheckpointTest, ANewKeyReadsEverythingOnceAndThenHasACheckpointOfItsOwn) {
  make_ledger();
  const auto before = verify(file)->checkpoints;
  const auto reopen = [&] { return *Ledger::open(file, "bank-a", clock, keeping(other)); };
  reopen();
  EXPECT_EQ(verify(file)->checkpoints, before + 1);
  reopen();
  EXPECT_EQ(verify(file)->checkpoints, before + 1);
}

TEST_F(CheckpointTest, AStateThatDoesNotReadIsNoState) {
  make_ledger();
  const Row row = last_checkpoint();
  const std::string text(row.answer.begin(), row.answer.end());
  for (size_t cut = 0; cut < text.size(); ++cut) {
    Row damaged = row;
    damaged.answer.resize(cut);
    Chain chain{Hash{}};
    chain.declare(read(file)->datasets.front());
    ASSERT_FALSE(chain.resume(damaged)) << cut;
    if (cut > 100) cut += 37;
  }
}

}  // namespace checkpoint_test
}  // namespace parley::ledger
