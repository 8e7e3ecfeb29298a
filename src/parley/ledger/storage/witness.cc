#include "parley/ledger/storage/witness.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace parley::ledger {
namespace {

constexpr std::string_view kBegin = "parley-witness-1";
constexpr size_t kLine = 512;  // A sector: it is written as a whole.

std::string line_of(const Witness::Seen& seen) {
  std::string line = std::string(kBegin) + " " + to_hex(seen.origin) + " " +
                     std::to_string(seen.rows) + " " + to_hex(seen.head) + " " +
                     std::to_string(seen.charge) + " " + to_hex(seen.charge_hash);
  line += " " + to_hex(sha256(as_bytes(line)));
  line.resize(kLine - 1, ' ');
  return line + "\n";
}

/// Nothing if the line is not whole.
std::optional<Witness::Seen> seen_in(const std::string& line) {
  std::istringstream words(line);
  std::string begin, origin, head, charge;
  Witness::Seen seen;
  words >> begin >> origin >> seen.rows >> head >> seen.charge >> charge;
  const auto origin_hash = hash_from_hex(origin), head_hash = hash_from_hex(head),
             charge_hash = hash_from_hex(charge);
  if (!words || !origin_hash || !head_hash || !charge_hash) return std::nullopt;
  seen.origin = *origin_hash, seen.head = *head_hash, seen.charge_hash = *charge_hash;
  return line_of(seen) == line ? std::optional(seen) : std::nullopt;
}

}  // namespace

Error Witness::failed() const {
  return {Code::kFailed,
          std::string("the ledger's witness cannot be read or written: ") + std::strerror(errno),
          "Check the place that `witness` names in the policy's [ledger]; nothing more is paid "
          "without it.",
          {.file = file_.string()}};
}

Witness::~Witness() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Witness> Witness::open(const std::filesystem::path& file) {
  Witness witness(file, ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (witness.descriptor_ < 0) return witness.failed();
  bool any = false;
  for (int line = 0; line < 2; ++line) {
    std::string text(kLine, '\0');
    const ssize_t size = ::pread(witness.descriptor_, text.data(), kLine,
                                 static_cast<off_t>(line) * static_cast<off_t>(kLine));
    if (size < 0) return witness.failed();
    any |= size > 0;
    const auto seen = seen_in(text.substr(0, static_cast<size_t>(size)));
    if (!seen || (witness.seen_ && witness.seen_->rows > seen->rows)) continue;
    witness.seen_ = seen;
    witness.line_ = 1 - line;
  }
  if (any && !witness.seen_)
    return Error{Code::kIntegrity,
                 "is no witness of a ledger, or is damaged",
                 "If it was one, find out how far the ledger had come, then remove it.",
                 {.file = file.string()}};
  return witness;
}

Result<void> Witness::write(const Seen& seen) {
  if (seen_ == seen) return {};
  const std::string line = line_of(seen);
  const auto offset = static_cast<off_t>(line_) * static_cast<off_t>(kLine);
  if (::pwrite(descriptor_, line.data(), line.size(), offset) != static_cast<ssize_t>(line.size()))
    return failed();
  seen_ = seen;
  line_ = 1 - line_;
  return {};
}

Result<void> Witness::sync() {
  if (::fdatasync(descriptor_) != 0) return failed();
  return {};
}

}  // namespace parley::ledger
