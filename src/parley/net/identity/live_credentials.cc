#include "parley/net/identity/live_credentials.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kLook{500};
constexpr int64_t kReminder = 86400;  // seconds: once a day

/// Differs whenever one of the files was written, replaced, made or removed.
std::string stamps_of(const std::vector<std::filesystem::path>& files) {
  std::string text;
  for (const auto& file : files) {
    struct stat found{};
    if (::stat(file.c_str(), &found) != 0) found = {};
    for (const auto part :
         {static_cast<int64_t>(found.st_ino), static_cast<int64_t>(found.st_size),
          static_cast<int64_t>(found.st_mode), static_cast<int64_t>(found.st_mtim.tv_sec),
          static_cast<int64_t>(found.st_mtim.tv_nsec)})
      text += std::to_string(part) + " ";
  }
  return text;
}

std::vector<std::filesystem::path> watched(const charter::Identity& files) {
  std::vector<std::filesystem::path> all = revoked_files(files);
  all.insert(all.end(), {files.certificate, files.key, files.authority});
  return all;
}

std::string older_list(int64_t found, int64_t used) {
  return "the newest list of revoked certificates in the files has number " +
         std::to_string(found) + " (0: there is none), and " + std::to_string(used) +
         " is in use and stays so: get the authority's newest list";
}

}  // namespace

LiveCredentials::LiveCredentials(Credentials first) : state_(std::make_shared<State>()) {
  replace(std::move(first));
}

std::shared_ptr<const Credentials> LiveCredentials::now() const {
  const std::lock_guard lock(state_->mutex);
  return state_->credentials;
}

void LiveCredentials::replace(Credentials next) const {
  auto made = std::make_shared<const Credentials>(std::move(next));
  const std::lock_guard lock(state_->mutex);
  state_->credentials = std::move(made);
}

std::string renewal_notice(const Credentials& credentials, Clock& clock) {
  const Validity valid = validity_of(certificate_from(credentials.certificate).get());
  const int64_t now = clock.unix_seconds();
  if (now < valid.from + (valid.until - valid.from) / 2) return "";
  return "our certificate ends at " + time_text(valid.until) + ", in " +
         std::to_string(std::max<int64_t>(0, valid.until - now) / 86400) +
         " days: have it renewed (`parley renew`)";
}

CredentialsWatch::CredentialsWatch(LiveCredentials live, charter::Identity files, Read read,
                                   Clock& clock, Log log)
    : live_(std::move(live)),
      files_(std::move(files)),
      watched_(watched(files_)),
      read_(std::move(read)),
      clock_(clock),
      log_(std::move(log)),
      seen_(),  // What was written while they were read for the first time counts as a change.
      thread_([this](const std::stop_token& over) { look_on(over); }) {}

void CredentialsWatch::look_on(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (!over.stop_requested()) {
    look();
    remind();
    over_.wait_for(lock, over, kLook, [] { return false; });
  }
}

void CredentialsWatch::look() {
  const std::string now = stamps_of(watched_);
  if (now == std::exchange(seen_, now)) return;
  const auto taken = take();
  const std::string trouble =
      taken ? *taken
            : "the credentials in the files are not taken, those in use stay: " +
                  describe(taken.error()) + ". " + taken.error().hint;
  if (trouble != std::exchange(said_, trouble) && !trouble.empty())
    log_({log::kCredentialsRefused, trouble});
}

Result<std::string> CredentialsWatch::take() {
  Credentials next = TRY(read_());
  const auto before = live_.now();
  if (next.revoked.number < before->revoked.number)
    return Error{Code::kIntegrity, older_list(next.revoked.number, before->revoked.number)};
  const std::string remark = keep(next);
  const bool renewed = next.certificate != before->certificate;
  const bool revoked = next.revoked.number != before->revoked.number;
  if (!renewed && !revoked && next.authority == before->authority) return remark;
  const Validity valid = validity_of(certificate_from(next.certificate).get());
  live_.replace(std::move(next));  // Before the log says so.
  const auto now = live_.now();
  if (renewed)
    log_({log::kCredentials,
          "our certificate was read again: it ends at " + time_text(valid.until)});
  if (revoked)
    log_({log::kRevocations, "the list of revoked certificates was read again: number " +
                                 std::to_string(now->revoked.number) + ", " +
                                 std::to_string(now->revoked.serials.size()) + " certificates"});
  reminded_ = 0;
  return remark;
}

std::string CredentialsWatch::keep(const Credentials& next) const {
  if (const auto kept = keep_revocations(files_, next); !kept)
    return "the list of revoked certificates is in use, and cannot be kept for the next start: " +
           describe(kept.error());
  if (next.revoked.in_files < next.revoked.number)
    return older_list(next.revoked.in_files, next.revoked.number);
  return "";
}

void CredentialsWatch::remind() {
  const int64_t now = clock_.unix_seconds();
  if (now - reminded_ < kReminder) return;
  reminded_ = now;
  const std::string notice = renewal_notice(*live_.now(), clock_);
  if (!notice.empty()) log_({log::kRenew, "warning: " + notice});
}

}  // namespace parley::net
