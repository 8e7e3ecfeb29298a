#include "parley/net/identity/identity.h"

#include "parley/net/identity/x509.h"
#include "support/ledgers.h"
#include "support/papers.h"

namespace parley::net {
namespace identity_test {

namespace fs = std::filesystem;

TEST(Identity, IsWhatItsUriSays) {
  const Identity bank{"banks.example", "owner", "bank-a"};
  EXPECT_EQ(bank.uri(), "parley://banks.example/owner/bank-a");
  EXPECT_EQ(*Identity::parse(bank.uri()), bank);
  EXPECT_EQ(Identity::parse("parley://x/learner/0")->role, "learner");
}

TEST(Identity, RefusesEveryOtherUriAndSaysWhy) {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "does not begin"},
      {"https://banks.example/owner/bank-a", "does not begin"},
      {"Parley://banks.example/owner/bank-a", "does not begin"},
      {"parley://", "consortium, role and name"},
      {"parley://banks.example", "consortium, role and name"},
      {"parley://banks.example/owner", "consortium, role and name"},
      {"parley:///owner/bank-a", "the consortium"},
      {"parley://Banks.example/owner/bank-a", "the consortium"},
      {"parley://banks..example/owner/bank-a", "the consortium"},
      {"parley://banks.example:7443/owner/bank-a", "the consortium"},
      {"parley://user@banks.example/owner/bank-a", "the consortium"},
      {"parley://" + std::string(64, 'a') + "/owner/bank-a", "the consortium"},
      {"parley://banks.example/auditor/bank-a", "the role"},
      {"parley://banks.example/Owner/bank-a", "the role"},
      {"parley://banks.example//bank-a", "the role"},
      {"parley://banks.example/owner/", "the name"},
      {"parley://banks.example/owner/bank-a/", "the name"},
      {"parley://banks.example/owner/bank a", "the name"},
      {"parley://banks.example/owner/bank-a?x", "the name"},
      {"parley://banks.example/owner/b%61nk", "the name"},
      {std::string("parley://banks.example/owner/bank-a\0", 36), "the name"},
      {"parley://banks.example/owner/" + std::string(64, 'a'), "the name"}};
  for (const auto& [uri, why] : wrong) {
    const auto parsed = Identity::parse(uri);
    ASSERT_FALSE(parsed) << uri;
    EXPECT_NE(parsed.error().what.find(why), std::string::npos) << parsed.error().what;
    EXPECT_EQ(parsed.error().code, Code::kIntegrity);
  }
}

/// A bank's papers in a folder, to be spoilt.
class CredentialsOfABank : public testing::Test {
 protected:
  CredentialsOfABank() : credentials_(banks_.credentials("owner", "bank-a")) {
    files_ = test::write_credentials(folder_, credentials_);
  }
  ~CredentialsOfABank() override { fs::remove_all(folder_); }

  /// Refused, for this reason, naming this file.
  void expect_refused(Code code, const fs::path& file, const std::string& why) {
    const auto read = read_credentials(files_, banks_.clock());
    ASSERT_FALSE(read) << why;
    EXPECT_EQ(read.error().code, code) << read.error().what;
    EXPECT_EQ(read.error().where.file, file.string());
    EXPECT_NE(read.error().what.find(why), std::string::npos) << read.error().what;
  }

  /// A certificate of the bank's key with other extensions, signed by the real authority.
  std::string certificate_with(const std::string& names, const char* use = "clientAuth") {
    const Certificate model = certificate_from(credentials_.certificate);
    X509V3_CTX context;
    X509V3_set_ctx(&context, model.get(), model.get(), nullptr, nullptr, 0);
    for (const auto& [kind, value] :
         {std::pair{NID_subject_alt_name, names}, std::pair{NID_ext_key_usage, std::string(use)}}) {
      X509_EXTENSION_free(X509_delete_ext(model.get(), X509_get_ext_by_NID(model.get(), kind, -1)));
      if (value.empty()) continue;
      X509_EXTENSION* added = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
      EXPECT_EQ(X509_add_ext(model.get(), added, -1), 1);
      X509_EXTENSION_free(added);
    }
    EXPECT_GT(X509_sign(model.get(), key_from(banks_.authority().key).get(), EVP_sha256()), 0);
    return pem_of(model.get());
  }

  fs::path folder_ = test::fresh_folder();
  test::Consortium banks_;
  Credentials credentials_;
  charter::Identity files_;
};

TEST_F(CredentialsOfABank, AreReadAsTheyAre) {
  const auto read = read_credentials(files_, banks_.clock());
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->identity, credentials_.identity);
  EXPECT_EQ(read->certificate, credentials_.certificate);
  EXPECT_EQ(read->key, credentials_.key);
  EXPECT_EQ(read->authority, credentials_.authority);
  EXPECT_EQ(*identity_of(credentials_.certificate), credentials_.identity);
}

TEST_F(CredentialsOfABank, NeedEveryFile) {
  for (const fs::path& file : {files_.certificate, files_.key, files_.authority}) {
    fs::rename(file, folder_ / "away");
    expect_refused(Code::kInvalid, file, "No such file");
    fs::rename(folder_ / "away", file);
  }
  ASSERT_TRUE(read_credentials(files_, banks_.clock()));
}

TEST_F(CredentialsOfABank, MustBePem) {
  for (const fs::path& file : {files_.certificate, files_.authority}) {
    const std::string good = *read_file(file);
    for (const std::string& text :
         {std::string("no"), std::string(), good + good, credentials_.key}) {
      ASSERT_TRUE(write_file(file, text));
      expect_refused(Code::kInvalid, file, "is not one certificate in PEM");
    }
    ASSERT_TRUE(write_file(file, good));
  }
  ASSERT_TRUE(write_file(files_.key, credentials_.certificate));
  fs::permissions(files_.key, fs::perms(0600));
  expect_refused(Code::kInvalid, files_.key, "is not a private key in PEM");
}

TEST_F(CredentialsOfABank, KeepTheKeyFromOthersOnTheMachine) {
  for (const int mode : {0640, 0604, 0620, 0644, 0601}) {
    fs::permissions(files_.key, fs::perms(mode));
    expect_refused(Code::kInvalid, files_.key, "others on this machine can open it");
    const auto read = read_credentials(files_, banks_.clock());
    EXPECT_EQ(read.error().hint, "Type: chmod 600 " + files_.key.string());
  }
  fs::permissions(files_.key, fs::perms(0400));
  EXPECT_TRUE(read_credentials(files_, banks_.clock()));
}

TEST_F(CredentialsOfABank, AKeyFromTheServiceManagerMayHaveAnAccessList) {
  fs::permissions(files_.key, fs::perms(0440));
  expect_refused(Code::kInvalid, files_.key, "others on this machine can open it");
  setenv("CREDENTIALS_DIRECTORY", folder_.c_str(), 1);
  EXPECT_TRUE(read_credentials(files_, banks_.clock()));
  fs::permissions(files_.key, fs::perms(0444));
  expect_refused(Code::kInvalid, files_.key, "others on this machine can open it");
  unsetenv("CREDENTIALS_DIRECTORY");
}

TEST_F(CredentialsOfABank, KeyAndCertificateBelongTogether) {
  const Credentials other = banks_.credentials("owner", "bank-a");
  ASSERT_TRUE(write_file(files_.certificate, other.certificate));
  expect_refused(Code::kIntegrity, files_.key, "does not belong to the certificate");
}

TEST_F(CredentialsOfABank, TheKeyIsOnP256) {
  const Key large(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-384"));
  ASSERT_TRUE(write_file(files_.key, private_pem_of(large.get())));
  fs::permissions(files_.key, fs::perms(0600));
  expect_refused(Code::kIntegrity, files_.key, "is not a key on P-256");
}

TEST_F(CredentialsOfABank, TheAuthorityHasSigned) {
  const test::Consortium impostor;
  ASSERT_TRUE(write_file(files_.authority, impostor.authority().certificate));
  expect_refused(Code::kIntegrity, files_.certificate, "was not signed by the authority");
  ASSERT_TRUE(write_file(files_.authority, credentials_.certificate));
  expect_refused(Code::kIntegrity, files_.authority, "is not the certificate of an authority");
}

TEST_F(CredentialsOfABank, AreValidNowAndOtherwiseBothDatesAndTheClockAreSaid) {
  const int64_t made = banks_.clock().at;
  banks_.clock().at = made - 3601;
  expect_refused(Code::kIntegrity, files_.authority,
                 "is not valid yet: valid from 2026-11-15T07:00:00Z until 2036-11-12T08:00:00Z, "
                 "and this machine's clock says 2026-11-15T06:59:59Z");
  banks_.clock().at = made + 365 * 86400 + 1;
  expect_refused(Code::kIntegrity, files_.certificate,
                 "has expired: valid from 2026-11-15T07:00:00Z until 2027-11-15T08:00:00Z, and "
                 "this machine's clock says 2027-11-15T08:00:01Z");
  banks_.clock().at = made + 3650LL * 86400 + 1;
  expect_refused(Code::kIntegrity, files_.authority, "has expired");
  for (const int64_t good : {made - 3600, made + 365 * 86400 - 1}) {
    banks_.clock().at = good;
    EXPECT_TRUE(read_credentials(files_, banks_.clock()));
  }
}

TEST_F(CredentialsOfABank, NameExactlyOneParty) {
  const std::string us = "URI:" + credentials_.identity.uri();
  const std::pair<std::string, std::string> wrong[] = {
      {us + ",URI:parley://banks.example/owner/bank-b", "more than one URI"},
      {us + "," + us, "more than one URI"},
      {"DNS:bank-a.example", "no URI"},
      {"", "no URI"},
      {"URI:parley://banks.example/king/bank-a", "the role must be"},
      {"URI:https://banks.example/owner/bank-a", "does not begin with parley://"}};
  for (const auto& [names, why] : wrong) {
    ASSERT_TRUE(write_file(files_.certificate, certificate_with(names)));
    expect_refused(Code::kIntegrity, files_.certificate, why);
  }
}

TEST_F(CredentialsOfABank, AreOfTheConsortiumAndRoleThatThePolicyMeans) {
  ASSERT_TRUE(write_file(files_.certificate,
                         certificate_with("URI:parley://banks.example/learner/bank-a")));
  expect_refused(Code::kIntegrity, files_.certificate, "is a learner's");
  files_.consortium = "hospitals.example";
  expect_refused(Code::kIntegrity, files_.certificate, "belongs to consortium banks.example");
}

TEST_F(CredentialsOfABank, TheAuthorityOfOneConsortiumCannotSpeakForAnother) {
  ASSERT_TRUE(write_file(files_.certificate,
                         certificate_with("URI:parley://hospitals.example/owner/bank-a")));
  files_.consortium = "hospitals.example";
  expect_refused(Code::kIntegrity, files_.certificate, "permitted subtree violation");
}

TEST_F(CredentialsOfABank, AreMeantForTheirUse) {
  const std::string us = "URI:" + credentials_.identity.uri();
  ASSERT_TRUE(write_file(files_.certificate, certificate_with(us, "codeSigning")));
  expect_refused(Code::kIntegrity, files_.certificate, "unsuitable certificate purpose");
  files_.sign_key.clear();
  ASSERT_TRUE(write_file(files_.certificate,
                         certificate_with("URI:parley://banks.example/learner/bank-a")));
  expect_refused(Code::kIntegrity, files_.certificate, "unsuitable certificate purpose");
}

TEST(Credentials, OfALearnerNeedNoSignKey) {
  const fs::path folder = test::fresh_folder();
  test::Consortium banks;
  const auto files = test::write_credentials(folder, banks.credentials("learner", "central-bank"));
  const auto read = read_credentials(files, banks.clock());
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->identity.role, "learner");
  fs::remove_all(folder);
}

}  // namespace identity_test
}  // namespace parley::net
