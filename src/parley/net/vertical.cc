#include "parley/net/vertical.h"

#include <utility>

#include "parley/base/files.h"
#include "parley/learn/vertical/aligned_rows.h"
#include "parley/net/journal/journal.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/vertical/pair/files.h"
#include "parley/protocol/vertical/setting.h"

namespace parley::net {
namespace {

constexpr uintmax_t kKeyBytes = 2 * sizeof(Secret32) + 1;  // in hexadecimal, and a newline

/// The part holds keys of predictions: its folder is for this user only.
Result<void> keep(const std::filesystem::path& folder, const std::string& name,
                  const std::string& text) {
  TRY(make_directories(folder));
  std::error_code failed;
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  if (failed)
    return Error{
        Code::kFailed, "cannot be closed to others", "Check it.", {.file = folder.string()}};
  return write_file(folder / name, text);
}

/// Whoever cheats in a test of rows may learn one bit that nobody is charged for, and any charter
/// could begin another test: after one that was not passed, a person must say that it is well.
Result<void> check_earlier_tests(const charter::Policy& policy, const charter::Charter& charter) {
  const auto jobs = policy.folder / policy.state / "models";
  const auto own = part_folder(policy, charter.hash);  // Of this job its own state tells.
  std::error_code none;
  for (const auto& job : std::filesystem::directory_iterator(jobs, none)) {
    const auto file = job.path() / protocol::kRowsTest;
    if (job.path() == own || !std::filesystem::exists(file)) continue;
    const std::string text = TRY(read_file(file));
    for (const charter::Owner& owner : charter.owners)
      if (owner.sign_key && owner.name != policy.owner &&
          protocol::says_begun(text, to_text(*owner.sign_key)))
        return Error{Code::kPolicy,
                     "an earlier test of rows with " + owner.name + " was not passed",
                     "Find out why. If " + owner.name + " is to be trusted, remove this file.",
                     {.file = file.string()}};
  }
  return {};
}

}  // namespace

std::filesystem::path part_folder(const charter::Policy& policy, const Hash& charter) {
  return policy.folder / policy.state / "models" / to_hex(charter).substr(0, 12);
}

Result<learn::AlignedRows> aligned_rows(const charter::Policy& policy, const charter::Dataset& data,
                                        const charter::Charter& charter, size_t place) {
  const data::Source source = TRY(charter::source_of(policy, data, charter));
  return learn::load_aligned(source, plan::part_schema(charter, place),
                             plan::holds_label(charter, place), charter.records->id,
                             protocol::alignment_key(charter.hash),
                             static_cast<uint64_t>(charter.records->count),
                             charter.records->on_mismatch == charter::OnMismatch::kIntersect);
}

Result<std::optional<OwnColumns>> own_columns(const charter::Policy& policy, const Ready& ready,
                                              size_t place) {
  const charter::Charter& charter = ready.charter;
  if (!charter.columns_apart()) return std::optional<OwnColumns>();
  if (charter.protocol.without_dealer()) TRY(check_earlier_tests(policy, charter));
  auto aligned = TRY(aligned_rows(policy, *ready.data, charter, place));
  SystemClock clock;
  OwnColumns own{gate::Records(std::move(aligned.rows)), {}};
  // Without a dealer nothing that ids could be tried on leaves this owner.
  const bool apart = charter.protocol.without_dealer();
  if (!apart) own.setting.records = aligned.alignment.hash();
  if (apart || charter.records->on_mismatch == charter::OnMismatch::kIntersect)
    own.setting.alignment = std::move(aligned.alignment);
  own.setting.secret =
      protocol::own_secret(ready.key.sign(protocol::own_secret_text(charter.hash)));
  own.setting.training = {.started = clock.now()};
  own.setting.kept = [folder = part_folder(policy, charter.hash)](const std::string& name) {
    const bool there = std::filesystem::exists(folder / name);
    return there ? read_file(folder / name) : Result<std::string>(std::string());
  };
  own.setting.keep = [folder = part_folder(policy, charter.hash)](const std::string& name,
                                                                  const std::string& text) {
    return keep(folder, name, text);
  };
  return std::optional(std::move(own));
}

Result<std::optional<Secret32>> dealer_key(const charter::Charter& charter,
                                           const std::filesystem::path& folder, Entropy& entropy) {
  if (!protocol::has_dealer(charter)) return std::optional<Secret32>();
  const auto file = folder / "dealer.key";
  const bool begun = Journal::is_begun(folder / "journal.pb");
  std::error_code ignored;
  if (!begun && std::filesystem::file_size(file, ignored) != kKeyBytes)
    std::filesystem::remove(file, ignored);  // Its writer was stopped before anything was asked.
  if (!std::filesystem::exists(file)) {
    // Everyone was told of the end, so that nothing is dealt any more.
    if (begun && std::filesystem::is_regular_file(folder / "manifest.json"))
      return std::optional(protocol::draw_secret(entropy));
    if (begun)
      return Error{Code::kInvalid,
                   "the dealer's key is gone, and with it the masks and noise of this job",
                   "Put it back, or agree on another run, which is paid again.",
                   {.file = file.string()}};
    TRY(make_directories(folder));
    const FileToMake made[] = {{file, to_hex(protocol::draw_secret(entropy)) + "\n", true}};
    TRY(make_files(made));
  }
  std::string text = TRY(read_secret(file));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return std::optional<Secret32>(TRY(hash_from_hex(text)));
}

void forget_dealer_key(const std::filesystem::path& folder) {
  std::error_code ignored;  // Where the learner dealt nothing there is none.
  std::filesystem::remove(folder / "dealer.key", ignored);
}

}  // namespace parley::net
