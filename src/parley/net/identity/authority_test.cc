#include "parley/net/identity/authority.h"

#include "parley/net/identity/signed_list.h"
#include "parley/net/identity/x509.h"
#include "support/ledgers.h"
#include "support/papers.h"

namespace parley::net {
namespace authority_test {

namespace fs = std::filesystem;
constexpr int64_t kDay = 86400;

const Identity kBank{"banks.example", "owner", "bank-a"};

Asked asked_by(const Identity& identity) {
  const auto key = identity.role == "owner"
                       ? std::optional(test::sign_key_of(identity.name).public_key())
                       : std::nullopt;
  return *read_request(make_request(identity, key).request, "request");
}

std::string value_of(X509* certificate, int kind) {
  const Memory text(BIO_new(BIO_s_mem()));
  const int at = X509_get_ext_by_NID(certificate, kind, -1);
  if (at < 0) return "absent";
  X509_EXTENSION* extension = X509_get_ext(certificate, at);
  X509V3_EXT_print(text.get(), extension, 0, 0);
  char* begin = nullptr;
  const long size = BIO_get_mem_data(text.get(), &begin);
  return (X509_EXTENSION_get_critical(extension) ? "critical " : "") +
         std::string(begin, static_cast<size_t>(size));
}

TEST(Authority, MayOnlyCertifyPartiesOfItsConsortium) {
  const test::Consortium banks;
  const Certificate certificate = certificate_from(banks.authority().certificate);
  EXPECT_EQ(value_of(certificate.get(), NID_basic_constraints), "critical CA:TRUE, pathlen:0");
  EXPECT_EQ(value_of(certificate.get(), NID_key_usage), "critical Certificate Sign, CRL Sign");
  EXPECT_EQ(value_of(certificate.get(), NID_name_constraints),
            "critical Permitted:\n  URI:banks.example");
  EXPECT_EQ(consortium_of(certificate.get()), "banks.example");
  EXPECT_TRUE(is_p256(X509_get0_pubkey(certificate.get())));
}

TEST(Authority, OwnersDialAndLearnersAlsoListen) {
  test::Consortium banks;
  for (const auto& [role, use] :
       {std::pair{"owner", "TLS Web Client Authentication"},
        std::pair{"learner", "TLS Web Server Authentication, TLS Web Client Authentication"}}) {
    const Credentials credentials = banks.credentials(role, "x");
    const Certificate certificate = certificate_from(credentials.certificate);
    EXPECT_EQ(value_of(certificate.get(), NID_ext_key_usage), use);
    EXPECT_EQ(value_of(certificate.get(), NID_basic_constraints), "critical CA:FALSE");
    EXPECT_EQ(value_of(certificate.get(), NID_key_usage), "critical Digital Signature");
    EXPECT_EQ(value_of(certificate.get(), NID_subject_alt_name),
              "URI:parley://banks.example/" + std::string(role) + "/x");
    const Certificate issuer = certificate_from(credentials.authority);
    EXPECT_EQ(judge(certificate.get(), issuer.get(), X509_PURPOSE_SSL_CLIENT, banks.clock().at),
              X509_V_OK);
    const int serves =
        judge(certificate.get(), issuer.get(), X509_PURPOSE_SSL_SERVER, banks.clock().at);
    EXPECT_EQ(serves == X509_V_OK, std::string_view(role) == "learner");
  }
}

TEST(Authority, OwnersCertificatesNameTheKeyThatSignsAndLearnersNone) {
  test::Consortium banks;
  const auto key_in = [&](const std::string& role) {
    return sign_key_of(certificate_from(banks.credentials(role, "bank-a").certificate).get());
  };
  EXPECT_EQ(key_in("owner"), test::sign_key_of("bank-a").public_key());
  EXPECT_EQ(key_in("learner"), std::nullopt);
}

TEST(Authority, LongNamesFit) {
  const std::string label(63, 'a');
  test::Consortium large(label + "." + label + "." + label + "." + std::string(61, 'b'));
  const Credentials credentials = large.credentials("learner", label);
  EXPECT_EQ(*identity_of(credentials.certificate), credentials.identity);
  EXPECT_EQ(judge(certificate_from(credentials.certificate).get(),
                  certificate_from(credentials.authority).get(), X509_PURPOSE_SSL_SERVER,
                  large.clock().at),
            X509_V_OK);
}

TEST(Authority, SerialsHave128BitsAndDiffer) {
  test::Consortium banks;
  const Asked asked = asked_by(kBank);
  const auto one = sign(banks.authority(), asked, 1, banks.clock());
  const auto two = sign(banks.authority(), asked, 1, banks.clock());
  EXPECT_EQ(one->serial.size(), 32u);
  EXPECT_NE(one->serial, two->serial);
}

TEST(Authority, NothingItSignsOutlivesIt) {
  test::Consortium banks;
  const auto made = sign(banks.authority(), asked_by(kBank), 36500, banks.clock());
  EXPECT_EQ(made->until, time_text(banks.clock().at + 3650 * kDay));
  const Certificate certificate = certificate_from(made->certificate);
  EXPECT_EQ(validity_of(certificate.get()).until, banks.clock().at + 3650 * kDay);
}

TEST(Authority, RefusesTheRequestOfAnotherConsortium) {
  test::Consortium banks;
  const auto made =
      sign(banks.authority(), asked_by({"hospitals.example", "owner", "a"}), 1, banks.clock());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::kIntegrity);
  EXPECT_NE(made.error().what.find("parley://hospitals.example/owner/a"), std::string::npos);
}

class AuthorityInAFolder : public testing::Test {
 protected:
  AuthorityInAFolder() {
    const std::vector<FileToMake> files = {
        {folder_ / kAuthorityKey, banks_.authority().key, true},
        {folder_ / kAuthorityCertificate, banks_.authority().certificate}};
    EXPECT_TRUE(make_files(files));
  }
  ~AuthorityInAFolder() override { fs::remove_all(folder_); }

  void expect_refused(Code code, const std::string& why) {
    const auto read = read_authority(folder_, banks_.clock());
    ASSERT_FALSE(read) << why;
    EXPECT_EQ(read.error().code, code);
    EXPECT_NE(read.error().what.find(why), std::string::npos) << read.error().what;
  }

  fs::path folder_ = test::fresh_folder();
  test::Consortium banks_;
};

TEST_F(AuthorityInAFolder, IsReadAsItWasMade) {
  const auto read = read_authority(folder_, banks_.clock());
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->consortium, "banks.example");
  EXPECT_EQ(read->key, banks_.authority().key);
  EXPECT_EQ(read->certificate, banks_.authority().certificate);
  EXPECT_EQ(read->fingerprint, banks_.authority().fingerprint);
}

TEST_F(AuthorityInAFolder, IsRefusedWithAForeignKeyAnOpenKeyNoAuthorityOrAfterItsEnd) {
  const test::Consortium other;
  ASSERT_TRUE(write_file(folder_ / kAuthorityCertificate, other.authority().certificate));
  expect_refused(Code::kIntegrity, "does not belong to authority.key");
  ASSERT_TRUE(
      write_file(folder_ / kAuthorityCertificate, banks_.credentials("owner", "a").certificate));
  expect_refused(Code::kIntegrity, "is not the certificate of an authority");
  ASSERT_TRUE(write_file(folder_ / kAuthorityCertificate, banks_.authority().certificate));
  const int64_t made = banks_.clock().at;
  for (const int64_t wrong : {made - 3601, made + 3650 * kDay}) {
    banks_.clock().at = wrong;
    expect_refused(Code::kIntegrity,
                   "is valid from 2026-11-15T07:00:00Z until 2036-11-12T08:00:00Z, and this "
                   "machine's clock says ");
  }
  banks_.clock().at = made;
  fs::permissions(folder_ / kAuthorityKey, fs::perms(0644));
  expect_refused(Code::kInvalid, "others on this machine can open it");
}

TEST_F(AuthorityInAFolder, ListsWhatItSignedAndGivesNoSecondKeyToAPartyUnasked) {
  const auto certify = [&](const Asked& asked, bool replace) {
    const auto made = sign(banks_.authority(), asked, 10, banks_.clock());
    return record(folder_, banks_.authority(), *made, {.replace = replace}, banks_.clock());
  };
  const Asked first = asked_by(kBank), second = asked_by(kBank);
  EXPECT_TRUE(certify(first, false));
  EXPECT_TRUE(certify(first, false)) << "a renewal";
  EXPECT_TRUE(certify(asked_by({"banks.example", "learner", "bank-a"}), false)) << "another role";
  const auto refused = certify(second, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kIntegrity);
  EXPECT_NE(refused.error().what.find("another key until 2026-11-25"), std::string::npos);
  EXPECT_TRUE(certify(second, true));
  EXPECT_TRUE(certify(second, false)) << "the new key is renewed like any other";
  EXPECT_FALSE(certify(first, false)) << "the lost key is not welcome back";
  banks_.clock().at += 11 * kDay;
  EXPECT_TRUE(certify(first, false)) << "everything has ended";
  const std::string list = *read_file(folder_ / kSignedList);
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 1 + 6);
  EXPECT_TRUE(list.starts_with("serial\turi\tuntil\tkey\tsign_key\n"));
  const auto members = certificates_from(*read_file(folder_ / charter::kMembersFile));
  ASSERT_EQ(members->size(), 1u) << "of owners, and the newest of each";
  EXPECT_EQ(fingerprint_of(X509_get0_pubkey(members->front().get())), first.key);
  ASSERT_TRUE(append_to_file(folder_ / kSignedList, "spilt coffee\n"));
  const auto damaged = certify(first, false);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().where.line, 8);
}

}  // namespace authority_test
}  // namespace parley::net
