// Papers for tests: an authority of its own per test, and parties that it signed for.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "parley/base/crypto/signature.h"
#include "parley/base/files.h"
#include "parley/net/identity/authority.h"
#include "parley/net/identity/identity.h"
#include "parley/net/identity/request.h"

namespace parley::test {

struct SetClock final : Clock {
  explicit SetClock(int64_t at = 1794729600) : at(at) {}  // 2026-11-15T08:00:00Z
  int64_t unix_seconds() override { return at; }
  int64_t at;
};

/// Always the same of one name.
inline SigningKey sign_key_of(const std::string& owner) {
  return SigningKey::from_seed(sha256(as_bytes(owner)));
}

class Consortium {
 public:
  explicit Consortium(const std::string& name = "banks.example", SetClock clock = SetClock())
      : clock_(clock), authority_(net::make_authority(name, 3650, clock_)) {}

  const net::Authority& authority() const { return authority_; }
  SetClock& clock() { return clock_; }

  net::Credentials credentials(const std::string& role, const std::string& name,
                               int64_t days = 365) {
    const net::Identity identity{authority_.consortium, role, name};
    const auto key = role == "owner" ? std::optional(sign_key_of(name).public_key()) : std::nullopt;
    const net::Request made = net::make_request(identity, key);
    const auto asked = net::read_request(made.request, "request");
    const auto certified = net::sign(authority_, *asked, days, clock_);
    return {identity, certified->certificate, made.key, authority_.certificate};
  }

 private:
  SetClock clock_;
  net::Authority authority_;
};

/// As `parley join` and `parley certs sign` leave them in `folder`. Writes over what is there.
inline charter::Identity write_credentials(const std::filesystem::path& folder,
                                           const net::Credentials& credentials) {
  const auto file = [&](const char* ending) {
    return folder / (credentials.identity.name + ending);
  };
  charter::Identity files{
      credentials.identity.consortium, file(".crt"), file(".key"), folder / "authority.crt", {}};
  files.members = folder / charter::kMembersFile;
  if (credentials.identity.role == "owner") files.sign_key = file(".sign");
  EXPECT_TRUE(write_file(files.certificate, credentials.certificate));
  EXPECT_TRUE(write_file(files.authority, credentials.authority));
  EXPECT_TRUE(write_file(files.key, credentials.key));
  std::filesystem::permissions(files.key, std::filesystem::perms(0600));
  if (files.sign_key.empty()) return files;
  EXPECT_TRUE(write_file(files.sign_key, sign_key_of(credentials.identity.name).pem()));
  std::filesystem::permissions(files.sign_key, std::filesystem::perms(0600));
  return files;
}

}  // namespace parley::test
