#include "parley/net/journal/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "parley/base/files.h"
#include "parley/wire/transcript_file.h"
#include "support/ledgers.h"

namespace parley::net {
namespace journal_test {

namespace fs = std::filesystem;
const Hash kCharter{4};
constexpr char kNow[] = "2026-11-17T04:00:00Z";

class AJournal : public testing::Test {
 protected:
  ~AJournal() override { fs::remove_all(folder_); }

  static wire::ReceivedAnswer answer(uint32_t round, size_t numbers = 2) {
    wire::ReceivedAnswer made{
        .round = round, .values = std::vector<int64_t>(numbers), .receipt = {}};
    made.receipt.round = round;
    return made;
  }
  Result<Journal> open(const Hash& charter = kCharter, const char* now = kNow) const {
    return Journal::open(file_, charter, now);
  }
  /// The rounds in it.
  static std::vector<uint32_t> rounds_in(Journal& journal) {
    std::vector<uint32_t> rounds;
    const auto read = journal.replay(
        [&](wire::Entry entry) { return rounds.push_back(entry.answer.round), Result<void>(); },
        [](const wire::Note&) { return Result<void>(); });
    EXPECT_TRUE(read) << read.error().what;
    return rounds;
  }
  void write(ByteView bytes) const {
    ASSERT_TRUE(write_file(file_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }

  fs::path folder_ = test::fresh_folder();
  fs::path file_ = folder_ / "journal.pb";
};

TEST_F(AJournal, BeginsAndGoesOn) {
  {
    Journal journal = *open();
    EXPECT_EQ(rounds_in(journal).size(), 0u);
    journal.append("one", answer(1));
    ASSERT_TRUE(journal.flush());
    EXPECT_EQ(open().error().code, Code::kFailed) << "it is locked";
  }
  Journal journal = *open(kCharter, "later");
  EXPECT_EQ(journal.started(), kNow);
  EXPECT_EQ(rounds_in(journal), std::vector{1u});
}

// Wherever its writer was stopped: before the head is whole nothing was asked, and later the end is
// cut off.
TEST_F(AJournal, GoesOnFromEveryPlaceAtWhichItsWriterWasStopped) {
  const Bytes head = wire::transcript_head(kCharter, kNow);
  const Bytes entry = wire::transcript_entry("one", answer(1));
  Bytes whole = head;
  for (int i = 0; i < 2; ++i) whole.insert(whole.end(), entry.begin(), entry.end());
  for (size_t size = 0; size <= whole.size(); size += size < head.size() + 9 ? 3 : 31) {
    write(ByteView(whole).first(size));
    EXPECT_EQ(Journal::is_begun(file_), size >= head.size()) << size;
    auto journal = open(kCharter, "later");
    ASSERT_TRUE(journal) << size << ": " << journal.error().what;
    EXPECT_EQ(journal->started(), size < head.size() ? "later" : kNow);
    const size_t entries = size < head.size() ? 0 : (size - head.size()) / entry.size();
    EXPECT_EQ(rounds_in(*journal).size(), entries) << size;
    journal->append("one", answer(7));
    ASSERT_TRUE(journal->flush());
    Journal moved = *std::move(journal);
    EXPECT_EQ(rounds_in(moved).size(), entries + 1) << size;
  }
}

/// Files can grow no further than `size`, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(size_t size) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{size, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_ = ::signal(SIGXFSZ, SIG_IGN);
};

// Otherwise half an entry would stand before the same one again, and the job could not go on.
TEST_F(AJournal, OnAFullDiskTakesBackWhatItCouldNotWriteWhole) {
  Journal journal = *open();
  journal.append("one", answer(1));
  ASSERT_TRUE(journal.flush());
  const size_t whole = fs::file_size(file_);
  journal.append("one", answer(2));
  journal.append("one", answer(3));
  for (const size_t room : {0, 1, 20, 60}) {
    const FullDisk disk(whole + room);
    EXPECT_EQ(journal.flush().error().code, Code::kFailed);
    EXPECT_EQ(fs::file_size(file_), whole) << room;
  }
  ASSERT_TRUE(journal.flush());
  EXPECT_EQ(rounds_in(journal), (std::vector{1u, 2u, 3u}));
}

TEST_F(AJournal, ZerosOfAPowerCutAreNoHead) {
  write(Bytes(100));
  Journal journal = *open();
  EXPECT_EQ(rounds_in(journal).size(), 0u);
}

TEST_F(AJournal, OfAnotherCharterOrNoJournalIsLeftAlone) {
  write(wire::transcript_head({9}, kNow));
  EXPECT_EQ(open().error().code, Code::kIntegrity);
  EXPECT_TRUE(Journal::is_begun(file_));
  for (const std::string& other : {std::string("my diary\n"), std::string(20'000, '\xff')}) {
    write(as_bytes(other));
    EXPECT_EQ(open().error().code, Code::kIntegrity);
    EXPECT_EQ(*read_file(file_), other);
  }
}

/// Entries of some 4 MiB of zeros, of which the file has only the places that are not zero.
uint64_t write_sparse(const fs::path& file, size_t entries, size_t numbers,
                      const wire::ReceivedAnswer& answer) {
  const Bytes entry = wire::transcript_entry("one", answer);
  const auto begins = static_cast<size_t>(
      std::search_n(entry.begin(), entry.end(), 4096, uint8_t{0}) - entry.begin());
  const size_t ends = begins + 8 * numbers;
  const int descriptor = ::open(file.c_str(), O_WRONLY);
  uint64_t at = fs::file_size(file);
  for (size_t i = 0; i < entries; ++i, at += entry.size()) {
    const auto put = [&](size_t from, size_t to) {
      EXPECT_EQ(::pwrite(descriptor, &entry[from], to - from, off_t(at + from)),
                ssize_t(to - from));
    };
    put(0, begins);
    put(ends, entry.size());
  }
  ::close(descriptor);
  return at;
}

/// With entries as long as a message may be; of more than 4 GiB it takes some ten seconds.
TEST_F(AJournal, HasNoLimitAtFourGiB) {
  constexpr size_t kNumbers = 523'000;  // A message has at most 4 MiB.
  const bool thorough = std::getenv("PARLEY_THOROUGH") != nullptr;
  const size_t entries = thorough ? 1030 : 9;
  ASSERT_TRUE(open());
  const uint64_t size = write_sparse(file_, entries, kNumbers, answer(1, kNumbers));
  ASSERT_EQ(size > uint64_t{1} << 32, thorough);
  fs::resize_file(file_, size + 5);  // Torn behind that.
  {
    Journal journal = *open();
    EXPECT_EQ(rounds_in(journal).size(), entries);
    EXPECT_EQ(fs::file_size(file_), size);
    journal.append("one", answer(2));
    ASSERT_TRUE(journal.flush());
    const auto hash = journal.publish(folder_ / "transcript.pb.zst");
    ASSERT_TRUE(hash) << hash.error().what;
  }
  uint32_t last = 0;
  wire::TranscriptReader reader(
      [&](const wire::Entry& entry) { return last = entry.answer.round, Result<void>(); },
      [](const wire::Note&) { return Result<void>(); });
  const auto read = wire::feed_transcript(folder_ / "transcript.pb.zst", reader);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(reader.entries(), entries + 1);
  EXPECT_EQ(last, 2u);
}

}  // namespace journal_test
}  // namespace parley::net
