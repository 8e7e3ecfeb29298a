#include "parley/net/identity/request.h"

#include <memory>

#include "parley/charter/toml/table.h"
#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

constexpr std::string_view kFormat = "parley.join/1";

std::string known_format(std::string_view text) {
  return text == kFormat ? "" : "must be \"" + std::string(kFormat) + "\"";
}

std::string one_certificate(std::string_view text) {
  return certificate_from(text) ? "" : "must be one certificate in PEM";
}

void read_fields(charter::Table& t, Invitation& invitation) {
  constexpr std::string_view kHint = "Ask the consortium for the invitation again.";
  std::string format;
  t.decisive("format", format, known_format, kHint);
  t.required("consortium", invitation.consortium, charter::any_domain, kHint);
  if (t.has("address")) t.required("address", invitation.address, charter::host_and_port, kHint);
  t.required("fingerprint", invitation.fingerprint, charter::Anything{}, kHint);
  t.required("authority", invitation.authority, one_certificate, kHint);
}

Error refused(std::string what, std::string hint) {
  return {Code::kIntegrity, "the request " + std::move(what), std::move(hint)};
}

constexpr const char* kMakeIt =
    "Make the request with `parley join`; where keys are already, it makes the request anew.";

/// Of a request's extensions, each of which must be of a kind that is given.
struct Wishes {
  Extensions all;
  int names = 0, sign_keys = 0;
};
Result<Wishes> wishes_of(X509_REQ* request) {
  Wishes wishes{Extensions(X509_REQ_get_extensions(request))};
  const int count = wishes.all ? sk_X509_EXTENSION_num(wishes.all.get()) : 0;
  for (int i = 0; i < count; ++i) {
    X509_EXTENSION* wish = sk_X509_EXTENSION_value(wishes.all.get(), i);
    const int kind = OBJ_obj2nid(X509_EXTENSION_get_object(wish));
    if (is_sign_key(wish))
      ++wishes.sign_keys;
    else if (kind == NID_subject_alt_name)
      ++wishes.names;
    else
      return refused(std::string("asks for an extension that is not given, ") + OBJ_nid2ln(kind),
                     kMakeIt);
  }
  if (wishes.names > 1) return refused("names the party twice", kMakeIt);
  if (X509_REQ_get_attr_count(request) > 1)
    return refused("has attributes besides the identity", kMakeIt);
  return wishes;
}

/// One name, the URI.
Result<Identity> only_name(const Wishes& wishes) {
  const Names names(static_cast<GENERAL_NAMES*>(
      wishes.all ? X509V3_get_d2i(wishes.all.get(), NID_subject_alt_name, nullptr, nullptr)
                 : nullptr));
  if (names && sk_GENERAL_NAME_num(names.get()) > static_cast<int>(uris_in(names.get()).size()))
    return refused("asks for names besides the URI", kMakeIt);
  return one_identity(uris_in(names.get()));
}

/// One of an owner, none of a learner.
Result<std::optional<SignKey>> only_sign_key(const Wishes& wishes, const Identity& identity) {
  const auto key = sign_key_of(wishes.all.get());
  if (identity.role == "owner" && !key)
    return refused("does not name the one key that this owner signs with", kMakeIt);
  if (identity.role != "owner" && wishes.sign_keys > 0)
    return refused("names a signing key, which only owners have", kMakeIt);
  return key;
}

Result<Asked> examine(std::string_view pem) {
  const SigningRequest request = request_from(pem);
  if (!request)
    return Error{Code::kInvalid, "is not a request to sign in PEM",
                 "Use the .csr file that `parley join` made."};
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (!is_p256(key))
    return refused("is for a key that is not on P-256", "Make the request with `parley join`.");
  if (X509_REQ_verify(request.get(), key) != 1)
    return refused("is not signed by its own key", "It was damaged or forged: ask for it again.");
  const Wishes wishes = TRY(wishes_of(request.get()));
  const Identity identity = TRY(only_name(wishes));
  const auto sign_key = TRY(only_sign_key(wishes, identity));
  return Asked{identity, fingerprint_of(key), sign_key, pem_of(request.get())};
}

Request request_of(EVP_PKEY* key, const Identity& identity,
                   const std::optional<SignKey>& sign_key) {
  const SigningRequest request(X509_REQ_new());
  const std::string names = "URI:" + identity.uri();
  const Extensions wishes(sk_X509_EXTENSION_new_null());
  check(request && wishes && X509_REQ_set_pubkey(request.get(), key) == 1);
  const auto wish = [&](X509_EXTENSION* made) {
    check(made != nullptr && sk_X509_EXTENSION_push(wishes.get(), made) > 0);
  };
  wish(X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()));
  if (sign_key) wish(sign_key_extension(*sign_key).release());
  set_common_name(X509_REQ_get_subject_name(request.get()), identity.name);
  check(X509_REQ_add_extensions(request.get(), wishes.get()) == 1 &&
        X509_REQ_sign(request.get(), key, EVP_sha256()) > 0);
  return {.key = {}, .request = pem_of(request.get()), .fingerprint = fingerprint_of(key)};
}

}  // namespace

std::string to_toml(const Invitation& invitation) {
  std::string text =
      "# An invitation to " + invitation.consortium +
      ", made by `parley certs init`; use it with `parley join`. It holds no secret,\n"
      "# but could be a forgery: compare the fingerprint with the consortium by phone.\n";
  text += "format      = \"" + std::string(kFormat) + "\"\n";
  text += "consortium  = \"" + invitation.consortium + "\"\n";
  if (!invitation.address.empty()) text += "address     = \"" + invitation.address + "\"\n";
  text += "fingerprint = \"" + to_hex(invitation.fingerprint) + "\"\n";
  return text + "authority   = \"\"\"\n" + invitation.authority + "\"\"\"\n";
}

Result<Invitation> parse_invitation(std::string_view toml, const std::string& file_name) {
  const charter::Value document = TRY(charter::parse_toml(toml, file_name));
  Invitation invitation;
  charter::Findings findings;
  charter::Table root(document, "", findings);
  read_fields(root, invitation);
  root.finish();
  if (findings.first) return *findings.first;
  const Certificate authority = certificate_from(invitation.authority);
  const auto damaged = [&](const std::string& what) {
    return Error{Code::kIntegrity,
                 what,
                 "Ask the consortium for the invitation again.",
                 {.file = file_name}};
  };
  if (fingerprint_of(authority.get()) != invitation.fingerprint)
    return damaged(
        "the authority's certificate does not have the fingerprint that stands beside it");
  if (consortium_of(authority.get()) != invitation.consortium)
    return damaged("the certificate is not that of an authority of " + invitation.consortium);
  invitation.authority = pem_of(authority.get());  // Without what may stand around it.
  return invitation;
}

std::string spoken(const Hash& fingerprint) {
  const std::string digits = to_hex(fingerprint);
  std::string text;
  for (size_t i = 0; i < digits.size(); i += 8) text += (i ? " " : "") + digits.substr(i, 8);
  return text;
}

Request make_request(const Identity& identity, const std::optional<SignKey>& sign_key) {
  const Key key = make_p256();
  Request request = request_of(key.get(), identity, sign_key);
  request.key = private_pem_of(key.get());
  return request;
}

Result<Request> make_request(const Identity& identity, const std::optional<SignKey>& sign_key,
                             const std::filesystem::path& file) {
  const Key key = TRY(read_key(file));
  if (is_p256(key.get())) return request_of(key.get(), identity, sign_key);
  return Error{Code::kInvalid,
               "is not a key on P-256",
               "Move it away; `parley join` then makes another.",
               {.file = file.string()}};
}

Result<Asked> read_request(std::string_view pem, const std::string& file_name) {
  auto asked = examine(pem);
  if (asked) return asked;
  Error error = asked.error();
  error.where.file = file_name;
  return error;
}

}  // namespace parley::net
