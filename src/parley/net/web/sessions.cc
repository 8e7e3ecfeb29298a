#include "parley/net/web/sessions.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

#include "parley/base/bytes.h"

namespace parley::net {

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && !a.empty() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// 256 bits, in hexadecimal digits.
std::string Sessions::secret() {
  Bytes bytes;
  for (int i = 0; i < 4; ++i) append_little_endian(bytes, entropy_.word());
  return to_hex(bytes);
}

std::string Sessions::new_key() {
  const std::lock_guard lock(mutex_);
  key_ = secret();
  return key_;
}

void Sessions::drop_old(Time now) {
  std::erase_if(open_, [&](const Open& each) { return now - each.began > kLifetime; });
}

std::optional<Session> Sessions::enter(std::string_view key, Time now) {
  const std::lock_guard lock(mutex_);
  if (!same_secret(key, key_)) return std::nullopt;
  key_.clear();
  drop_old(now);
  if (open_.size() == kMost) open_.erase(open_.begin());
  open_.push_back({{.cookie = secret(), .token = secret(), .person = person_}, now});
  return open_.back().session;
}

std::optional<Session> Sessions::find(std::string_view cookie, Time now) {
  const std::lock_guard lock(mutex_);
  drop_old(now);
  for (const Open& each : open_)
    if (same_secret(cookie, each.session.cookie)) return each.session;
  return std::nullopt;
}

void Sessions::leave(std::string_view cookie) {
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const Open& each) { return same_secret(cookie, each.session.cookie); });
}

Session Sessions::named(const std::string& person) {
  const std::lock_guard lock(mutex_);
  Session& session = named_[person];
  if (session.token.empty()) session = {.token = secret(), .person = person};
  return session;
}

}  // namespace parley::net
