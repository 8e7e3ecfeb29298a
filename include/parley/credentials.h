// Certificates for jobs over the network: a consortium's authority says once, with its signature,
// which key belongs to which party.
//
//   parley::make_authority("banks.example", {.folder = "authority"});           // the consortium
//   parley::join("banks.example.join", "bank-a", {.folder = "bank-a"});         // each party
//   parley::sign_request("bank-a/bank-a.csr", {.authority = "authority"});      // the consortium
//
// A private key never leaves the folder in which it was made. A fingerprint must be compared over
// another channel, such as the phone: whoever can exchange files on their way can otherwise take
// part as somebody else. No function here replaces a file that exists (kInvalid).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "parley/bytes.h"
#include "parley/result.h"

namespace parley {

struct AuthorityOptions {
  std::filesystem::path folder = ".";
  std::string address{};  // host:port of the learner, for the invitation; empty: not known yet
  int64_t days = 3650;    // until it ends
};

/// An authority that was made.
struct AuthorityMade {
  std::filesystem::path key;          // SECRET: who has it can take part as anybody
  std::filesystem::path certificate;  // public
  std::filesystem::path invitation;   // public: to be sent to every party
  Hash fingerprint{};                 // of the certificate: every party compares it
};

/// `consortium` is a domain name, which charters and policies name, too. kInvalid if it is none.
Result<AuthorityMade> make_authority(const std::string& consortium,
                                     const AuthorityOptions& options = {});

struct JoinOptions {
  std::string role = "owner";  // or learner
  std::filesystem::path folder = ".";
};

/// A party's keys that were made. Files lie in the options' folder.
struct Joined {
  std::string uri;                        // parley://<consortium>/<role>/<name>
  std::string address;                    // of the learner, by the invitation; may be empty
  Hash authority_fingerprint{};           // to be compared with the consortium
  Hash key_fingerprint{};                 // likewise
  std::filesystem::path key;              // SECRET
  std::filesystem::path request;          // public: to be sent to the authority
  std::filesystem::path certificate;      // where the signed certificate belongs
  std::filesystem::path authority;        // the authority's certificate
  std::filesystem::path sign_key_file{};  // SECRET, owners only: signs receipts
  std::string sign_key{};                 // public, owners only: for the charter
  std::filesystem::path members{};        // owners only: where the authority's members.pem belongs
};

/// Makes the keys of the party `name` and the request to certify them. Where the keys are and the
/// request is not, makes the request for these keys. kInvalid if the invitation is damaged or the
/// name cannot be one.
Result<Joined> join(const std::filesystem::path& invitation, const std::string& name,
                    const JoinOptions& options = {});

struct SignOptions {
  std::filesystem::path authority = ".";  // folder of the authority
  int64_t days = 365;                     // until the certificate ends
  bool replace = false;         // also if this party has a valid certificate for another key
  std::filesystem::path out{};  // empty: NAME.crt beside the request
};

/// A certificate that was made.
struct Signed {
  std::string uri;
  Hash key_fingerprint{};  // to be compared with the party before the certificate is sent back
  std::string serial;      // hexadecimal
  std::string until;       // RFC 3339, UTC
  std::filesystem::path certificate;
  /// Of an owner: the certificates of all owners, in the authority's folder. No secret; every owner
  /// needs the newest, for it takes part only with owners whose keys are certified.
  std::filesystem::path members{};
  bool renewal = false;  // the request was signed by the key that the party had before, too
};

/// Certifies a request and notes it in the authority's list. kInvalid for a request that is not in
/// order, or a second key of a party without `replace`: either its key was lost, or somebody is not
/// who he says he is.
Result<Signed> sign_request(const std::filesystem::path& request, const SignOptions& options = {});

struct RevokeOptions {
  std::string role = "owner";             // or learner
  std::filesystem::path authority = ".";  // folder of the authority
};

/// Certificates that were taken back.
struct Revoked {
  std::string uri;
  size_t certificates = 0;     // so many of this party, with all before revoked ones apart
  std::filesystem::path list;  // public: every party needs the newest, beside authority.crt
};

/// Takes back every certificate of the party `name`: whoever has the new list lets it in no more.
/// kInvalid if it has none.
Result<Revoked> revoke(const std::string& name, const RevokeOptions& options = {});

struct RenewOptions {
  std::filesystem::path folder = ".";
  bool sign_key = false;  // of an owner, between jobs: also a new key for receipts
};

/// New keys beside those in use, NAME.next.*.
struct Renewal {
  std::string uri;
  std::string until;                  // when the certificate in use ends; RFC 3339, UTC
  std::filesystem::path request;      // public: to be sent to the authority
  std::filesystem::path certificate;  // where what comes back belongs
  std::string sign_key{};             // if it is new: for the next charters
};

/// Makes new keys of the party `name`, and a request that the key in use has signed as well.
Result<Renewal> renew(const std::string& name, const RenewOptions& options = {});

/// Puts the renewed certificate and its keys in the place of those in use, after everything about
/// them was found in order. A daemon takes them within a second. When it ends.
Result<std::string> install_renewal(const std::string& name,
                                    const std::filesystem::path& folder = ".");

/// A fingerprint in groups that can be read out on the phone.
std::string spoken(const Hash& fingerprint);

}  // namespace parley
