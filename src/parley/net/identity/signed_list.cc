#include "parley/net/identity/signed_list.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "parley/base/files.h"
#include "parley/net/identity/members.h"
#include "parley/net/identity/revocation.h"

namespace parley::net {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kColumns = "serial\turi\tuntil\tkey\tsign_key";
constexpr std::string_view kColumnsOf01 = "serial\turi\tuntil\tkey";
constexpr std::string_view kNoSignKey = "-";

std::string line_of(const Signed& made) {
  return made.serial + "\t" + made.identity.uri() + "\t" + made.until + "\t" + to_hex(made.key) +
         "\t" + (made.sign_key ? to_text(*made.sign_key) : std::string(kNoSignKey));
}

std::optional<Signed> parse_line(const std::string& line) {
  std::istringstream fields(line);
  Signed made;
  std::string uri, key, sign_key;
  fields >> made.serial >> uri >> made.until >> key >> sign_key;
  const auto identity = Identity::parse(uri);
  const auto hash = hash_from_hex(key);
  if (!identity || !hash) return std::nullopt;
  made.identity = *identity, made.key = *hash;
  made.sign_key = sign_key_from(sign_key);
  return made;
}

/// In the order of signing; nothing where nothing was signed.
Result<std::vector<Signed>> read_list(const fs::path& file) {
  std::vector<Signed> all;
  if (!fs::exists(file)) return all;
  std::istringstream lines(TRY(read_file(file)));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (++number == 1 && (line == kColumns || line == kColumnsOf01)) continue;
    auto made = parse_line(line);
    if (!made)
      return Error{Code::kIntegrity,
                   "is not a line of what was signed",
                   "The list is damaged: restore it from a backup.",
                   {.file = file.string(), .line = number}};
    all.push_back(*std::move(made));
  }
  return all;
}

Result<void> check_not_revoked(const Signed& made, const std::vector<Signed>& all,
                               const Revocations& revoked) {
  const bool taken_back = std::any_of(all.begin(), all.end(), [&](const Signed& each) {
    return revoked.has(each.serial) &&
           (each.key == made.key || (made.sign_key && each.sign_key == made.sign_key));
  });
  if (!taken_back) return {};
  return Error{Code::kIntegrity, made.identity.uri() + " asks for a key that was revoked",
               "It makes new keys, all of them: `parley join` in an empty folder."};
}

/// Its key of today must be this one, or there must be a reason.
Result<void> check_instead(const fs::path& file, const Signed& made, const Instead& instead,
                           const std::vector<Signed>& all, const Revocations& revoked,
                           Clock& clock) {
  const Signed* last = nullptr;
  for (const Signed& each : all)
    if (each.identity == made.identity && !revoked.has(each.serial)) last = &each;
  if (instead.replace || last == nullptr || last->key == made.key || last->key == instead.renews ||
      last->until <= clock.now())
    return {};
  return Error{Code::kIntegrity,
               made.identity.uri() + " has a certificate for another key until " + last->until,
               "Ask by phone whether the key was lost. If so, sign with --replace; the old "
               "certificate stays good until it ends. If it was stolen: `parley certs revoke`.",
               {.file = file.string()}};
}

/// The file of members as `change` makes it from what is there.
template <class Change>
Result<void> change_members(const fs::path& folder, Change change) {
  const fs::path file = folder / charter::kMembersFile;
  const std::string before = fs::exists(file) ? TRY(read_file(file, kMembersBytesMax)) : "";
  const Result<std::string> after = change(before);
  if (after) return write_file(file, *after);
  Error error = after.error();
  error.where.file = file.string();
  return error;
}

}  // namespace

Result<void> record(const fs::path& folder, const Authority& authority, const Signed& made,
                    const Instead& instead, Clock& clock) {
  const fs::path file = folder / kSignedList;
  const auto all = TRY(read_list(file));
  const auto revoked = TRY(read_revocations(folder / kRevokedFile, authority.certificate));
  TRY(check_not_revoked(made, all, revoked));
  TRY(check_instead(file, made, instead, all, revoked, clock));
  const bool first = !fs::exists(file);
  TRY(append_to_file(file, (first ? std::string(kColumns) + "\n" : "") + line_of(made) + "\n"));
  if (made.identity.role != "owner") return {};
  return change_members(folder, [&](const std::string& before) {
    return with_member(before, made.certificate, clock);
  });
}

Result<size_t> revoke(const fs::path& folder, const Authority& authority, const Identity& party,
                      Clock& clock) {
  auto revoked = TRY(read_revocations(folder / kRevokedFile, authority.certificate));
  const size_t before = revoked.serials.size();
  for (const Signed& each : TRY(read_list(folder / kSignedList)))
    if (each.identity == party) revoked.serials.insert(each.serial);
  const size_t count = revoked.serials.size() - before;
  if (count == 0)
    return Error{Code::kInvalid,
                 party.uri() + " has no certificate that is not revoked already",
                 "The list of what was signed has every party's URI.",
                 {.file = (folder / kSignedList).string()}};
  ++revoked.number;
  TRY(write_file(folder / kRevokedFile,
                 revocation_list(revoked, authority.certificate, authority.key, clock)));
  if (party.role == "owner")
    TRY(change_members(
        folder, [&](const std::string& members) { return without_revoked(members, revoked); }));
  return count;
}

}  // namespace parley::net
