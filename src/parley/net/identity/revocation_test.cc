#include "parley/net/identity/revocation.h"

#include "parley/net/identity/members.h"
#include "parley/net/identity/renewal.h"
#include "parley/net/identity/signed_list.h"
#include "parley/net/identity/x509.h"
#include "support/ledgers.h"
#include "support/papers.h"

namespace parley::net {
namespace revocation_test {

namespace fs = std::filesystem;
const Identity kBank{"banks.example", "owner", "bank-a"};

Asked asked_with(const Identity& identity, const std::string& sign_key) {
  return *read_request(make_request(identity, test::sign_key_of(sign_key).public_key()).request,
                       "request");
}

class AuthorityThatRevokes : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  Result<Signed> certify(const Asked& asked, const Instead& instead = {}) {
    Signed made = *sign(banks_.authority(), asked, 10, banks_.clock());
    TRY(record(folder_, banks_.authority(), made, instead, banks_.clock()));
    return made;
  }
  Revocations list() const {
    return *read_revocations(folder_ / kRevokedFile, banks_.authority().certificate);
  }
  Result<size_t> take_back(const Identity& party) {
    return revoke(folder_, banks_.authority(), party, banks_.clock());
  }

  fs::path folder_ = test::fresh_folder();
  test::Consortium banks_;
};

TEST_F(AuthorityThatRevokes, ListsEveryCertificateOfThePartyAndNoOther) {
  EXPECT_EQ(list().number, 0) << "no file";
  const auto first = *certify(asked_with(kBank, "k"));
  const auto second = *certify(asked_with(kBank, "k"), {.replace = true});
  const auto other = *certify(asked_with({"banks.example", "owner", "bank-b"}, "b"));
  EXPECT_EQ(*take_back(kBank), 2u);
  EXPECT_EQ(list().number, 1);
  EXPECT_EQ(list().serials, (std::set<std::string>{first.serial, second.serial}));
  const auto members = certificates_from(*read_file(folder_ / charter::kMembersFile));
  ASSERT_EQ(members->size(), 1u);
  EXPECT_EQ(serial_of(members->front().get()), other.serial);
  EXPECT_EQ(take_back(kBank).error().code, Code::kInvalid) << "nothing is left";
  EXPECT_EQ(take_back({"banks.example", "owner", "nobody"}).error().code, Code::kInvalid);
  EXPECT_EQ(*take_back(other.identity), 1u);
  EXPECT_EQ(list().number, 2);
  EXPECT_EQ(list().serials.size(), 3u) << "those before stay revoked";
}

TEST_F(AuthorityThatRevokes, SignsNewKeysWithoutAReasonAndRevokedOnesNever) {
  const Asked stolen = asked_with(kBank, "k");
  ASSERT_TRUE(certify(stolen));
  ASSERT_TRUE(take_back(kBank));
  for (const bool replace : {false, true}) {
    EXPECT_FALSE(certify(stolen, {.replace = replace}));
    EXPECT_FALSE(certify(asked_with(kBank, "k"), {.replace = replace}))
        << "a new key for TLS, and the stolen one for receipts";
  }
  EXPECT_TRUE(certify(asked_with(kBank, "new")));
}

TEST_F(AuthorityThatRevokes, ReadsTheListOfEarlierVersions) {
  const Asked asked = asked_with(kBank, "k");
  const Signed made = *sign(banks_.authority(), asked, 10, banks_.clock());
  ASSERT_TRUE(write_file(folder_ / kSignedList, "serial\turi\tuntil\tkey\n" + made.serial + "\t" +
                                                    kBank.uri() + "\t" + made.until + "\t" +
                                                    to_hex(made.key) + "\n"));
  EXPECT_EQ(*take_back(kBank), 1u);
  EXPECT_TRUE(list().has(made.serial));
}

TEST_F(AuthorityThatRevokes, IsBelievedByItsSignatureOnly) {
  const test::Consortium stranger;
  const Revocations revoked{.number = 1, .serials = {std::string(32, 'a')}};
  const auto& ours = banks_.authority();
  const auto& theirs = stranger.authority();
  const auto parse = [&](const std::string& pem) {
    return parse_revocations(pem, ours.certificate);
  };
  const std::string good = revocation_list(revoked, ours.certificate, ours.key, banks_.clock());
  EXPECT_EQ(parse(good)->serials, revoked.serials);
  EXPECT_FALSE(parse(revocation_list(revoked, theirs.certificate, theirs.key, banks_.clock())));
  EXPECT_FALSE(parse(revocation_list(revoked, ours.certificate, theirs.key, banks_.clock())));
  EXPECT_FALSE(parse(good + good)) << "which one would count?";
  EXPECT_FALSE(parse(revocation_list({.number = 0}, ours.certificate, ours.key, banks_.clock())));
  std::string changed = good;
  changed[good.size() / 2] = changed[good.size() / 2] == 'A' ? 'B' : 'A';
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), changed})
    EXPECT_FALSE(parse(bad));
  ASSERT_TRUE(write_file(folder_ / kRevokedFile, "no list"));
  EXPECT_FALSE(read_revocations(folder_ / kRevokedFile, ours.certificate))
      << "a damaged list frees nobody";
}

TEST_F(AuthorityThatRevokes, MakesOwnCredentialsAndChartersKeysUseless) {
  const Credentials one = banks_.credentials("owner", "one"),
                    two = banks_.credentials("owner", "two");
  const auto files = test::write_credentials(folder_, one);
  ASSERT_TRUE(write_file(files.members, one.certificate + two.certificate));
  charter::Charter charter;
  charter.consortium = "banks.example";
  for (const char* name : {"one", "two"})
    charter.owners.push_back({.name = name, .sign_key = test::sign_key_of(name).public_key()});
  EXPECT_TRUE(check_members(files, charter, "one", banks_.clock()));
  const auto write_list = [&](const Credentials& revoked) {
    const std::string serial = serial_of(certificate_from(revoked.certificate).get());
    ASSERT_TRUE(write_file(folder_ / kRevokedFile,
                           revocation_list({1, {serial}}, banks_.authority().certificate,
                                           banks_.authority().key, banks_.clock())));
  };
  write_list(two);
  const auto refused = check_members(files, charter, "one", banks_.clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "two's certificate was revoked by the authority");
  EXPECT_TRUE(read_credentials(files, banks_.clock()));
  write_list(one);
  const auto ours = read_credentials(files, banks_.clock());
  ASSERT_FALSE(ours);
  EXPECT_NE(ours.error().what.find("was revoked"), std::string::npos);
}

class Renewals : public AuthorityThatRevokes {
 protected:
  /// As certified by the list's authority.
  Credentials today() {
    const Request made = make_request(kBank, test::sign_key_of("k").public_key());
    const auto certified = certify(*read_request(made.request, ""));
    return {kBank, certified->certificate, made.key, banks_.authority().certificate};
  }
  Result<std::optional<Hash>> check(const std::string& pem) {
    return renewed_key(pem, *read_request(pem, ""), banks_.authority(), list(), banks_.clock());
  }
  Request fresh_ = make_request(kBank, test::sign_key_of("k").public_key());
};

TEST_F(Renewals, LetAPartyChangeItsKeyWithoutAPhoneCall) {
  const Credentials old = today();
  const std::string pem = renewal_of(old, fresh_);
  const auto renews = check(pem);
  ASSERT_TRUE(renews) << renews.error().what;
  EXPECT_EQ(*renews, fingerprint_of(key_from(old.key).get()));
  EXPECT_FALSE(certify(*read_request(pem, ""))) << "a second key without a reason";
  EXPECT_TRUE(certify(*read_request(pem, ""), {.renews = *renews}));
  EXPECT_EQ(*check(fresh_.request), std::nullopt) << "a request alone renews nothing";
}

TEST_F(Renewals, AreRefusedToWhoeverHasNoRightToThem) {
  const Credentials old = today();
  const std::string pem = renewal_of(old, fresh_);
  const Credentials other = banks_.credentials("owner", "bank-b");
  EXPECT_FALSE(check(renewal_of(other, fresh_))) << "another party's certificate";
  test::Consortium stranger;
  EXPECT_FALSE(check(renewal_of(stranger.credentials("owner", "bank-a"), fresh_)));
  const Request second = make_request(kBank, test::sign_key_of("k").public_key());
  EXPECT_FALSE(check(second.request + pem.substr(fresh_.request.size())))
      << "the signature is of another request";
  Credentials forged = old;
  forged.key = second.key;
  EXPECT_FALSE(check(renewal_of(forged, fresh_))) << "the certificate without its key";
  const auto next = certify(*read_request(pem, ""), {.renews = *check(pem)});
  ASSERT_TRUE(next);
  EXPECT_FALSE(certify(*read_request(second.request, ""), {.renews = *check(pem)}))
      << "the key of yesterday renews no more";
  ASSERT_TRUE(take_back(kBank));
  EXPECT_FALSE(check(pem)) << "nor does a revoked one";
  banks_.clock().at += 11 * 86400;
  EXPECT_FALSE(check(pem)) << "nor one that has ended";
}

}  // namespace revocation_test
}  // namespace parley::net
