// No text crashes the readers of identities, invitations, requests, certificates, lists of members
// and of revoked certificates; an identity that is accepted is written in one way only, and so is a
// list of members.
#include <string_view>

#include "parley/base/clock.h"
#include "parley/net/identity/authority.h"
#include "parley/net/identity/identity.h"
#include "parley/net/identity/members.h"
#include "parley/net/identity/request.h"
#include "parley/net/identity/revocation.h"
#include "parley/net/identity/x509.h"

namespace {

using namespace parley;

struct StoppedClock final : Clock {
  int64_t unix_seconds() override { return 1794729600; }
};

/// Of an owner whom the authority takes up among the members that it finds.
std::string some_certificate() {
  StoppedClock clock;
  const auto authority = net::make_authority("banks.example", 1, clock);
  const auto request = net::make_request({"banks.example", "owner", "new"}, SignKey{});
  return net::sign(authority, *net::read_request(request.request, ""), 1, clock)->certificate;
}

void read_members(std::string_view text) {
  static const std::string certificate = some_certificate();
  StoppedClock clock;
  const auto members = net::with_member(text, certificate, clock);
  if (members) check(*net::with_member(*members, certificate, clock) == *members);
  const auto all = net::certificates_from(text);
  if (!all) return;
  for (const auto& each : *all)
    if (const auto key = net::sign_key_of(each.get()))
      check(net::is_sign_key(net::sign_key_extension(*key).get()));
}

/// By our authority, which has signed none; and by the one whose certificate stands before the
/// list.
void read_revoked(std::string_view text) {
  static const std::string ours = [] {
    StoppedClock clock;
    return net::make_authority("banks.example", 1, clock).certificate;
  }();
  const auto revoked = net::parse_revocations(text, ours);
  check(!revoked && !revoked.error().what.empty());
  constexpr std::string_view kList = "-----BEGIN X509 CRL-----";
  const size_t list = std::min(text.find(kList), text.size());
  if (const auto believed = net::parse_revocations(text.substr(list), text.substr(0, list)))
    check(believed->number > 0 && believed->pem == text.substr(list));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto identity = net::Identity::parse(text);
  if (identity)
    check(identity->uri() == text);
  else
    check(!identity.error().what.empty());
  const auto invitation = net::parse_invitation(text, "fuzz.join");
  if (invitation)
    check(bool(net::parse_invitation(net::to_toml(*invitation), "again.join")));
  else
    check(!invitation.error().what.empty());
  static_cast<void>(bool(net::read_request(text, "fuzz.csr")));
  static_cast<void>(bool(net::identity_of(text)));
  read_members(text);
  read_revoked(text);
  return 0;
}
