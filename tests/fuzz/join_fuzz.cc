// No text crashes the readers of identities, invitations, requests and certificates; an identity
// that is accepted is written in one way only.
#include <string_view>

#include "parley/net/identity/identity.h"
#include "parley/net/identity/request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
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
  return 0;
}
