#include "parley/net/identity/members.h"

#include "parley/net/identity/x509.h"
#include "support/ledgers.h"
#include "support/papers.h"

namespace parley::net {
namespace members_test {

constexpr int64_t kDay = 86400;

/// bank-a reads a charter of three banks; its authority has certified them all.
class MembersOfBanks : public testing::Test {
 protected:
  MembersOfBanks() {
    files_ = test::write_credentials(folder_, banks_.credentials("owner", "bank-a"));
    charter_.consortium = "banks.example";
    for (const char* name : {"bank-a", "bank-b", "bank-c"})
      charter_.owners.push_back({.name = name, .sign_key = test::sign_key_of(name).public_key()});
    write({banks_.credentials("owner", "bank-b"), banks_.credentials("owner", "bank-c")});
  }
  ~MembersOfBanks() override { std::filesystem::remove_all(folder_); }

  void write(const std::vector<Credentials>& members) {
    std::string pem;
    for (const Credentials& each : members) pem += each.certificate;
    EXPECT_TRUE(write_file(files_.members, pem));
  }

  Result<void> check_now() { return check_members(files_, charter_, "bank-a", banks_.clock()); }

  /// Refused, for this reason, naming this file.
  void expect_refused(const std::string& why, const std::filesystem::path& file) {
    const auto checked = check_now();
    ASSERT_FALSE(checked) << why;
    EXPECT_NE(checked.error().what.find(why), std::string::npos) << checked.error().what;
    EXPECT_EQ(checked.error().where.file, file.string());
    EXPECT_FALSE(checked.error().hint.empty());
  }
  void expect_refused(const std::string& why) { expect_refused(why, files_.members); }

  std::filesystem::path folder_ = test::fresh_folder();
  test::Consortium banks_;
  charter::Identity files_;
  charter::Charter charter_;
};

TEST_F(MembersOfBanks, AreAllCertified) {
  const auto checked = check_now();
  EXPECT_TRUE(checked) << describe(checked.error());
}

TEST_F(MembersOfBanks, AKeyThatTheCharterMadeUpIsRefused) {
  charter_.owners[1].sign_key = SigningKey::make().public_key();
  expect_refused("the charter's sign_key of bank-b is not the one in its certificate");
}

TEST_F(MembersOfBanks, AnOwnerThatTheCharterMadeUpIsRefused) {
  charter_.owners.push_back(
      {.name = "bank-d", .sign_key = test::sign_key_of("bank-d").public_key()});
  expect_refused("no certificate says which key is bank-d's");
}

TEST_F(MembersOfBanks, ACertificateOfAnotherAuthorityIsRefused) {
  test::Consortium impostor;  // of the same name
  write({impostor.credentials("owner", "bank-b"), banks_.credentials("owner", "bank-c")});
  expect_refused("bank-b's certificate is not accepted: ");
}

TEST_F(MembersOfBanks, ACertificateOfAnotherOwnerRoleOrConsortiumIsRefused) {
  const Credentials c = banks_.credentials("owner", "bank-c");
  test::Consortium elsewhere("hospitals.example");
  for (const Credentials& other :
       {banks_.credentials("learner", "bank-b"), banks_.credentials("owner", "bank-b2"),
        elsewhere.credentials("owner", "bank-b")}) {
    write({other, c});
    expect_refused("no certificate says which key is bank-b's");
  }
}

TEST_F(MembersOfBanks, ACertificateThatHasEndedIsRefusedUntilItIsRenewed) {
  const Credentials c = banks_.credentials("owner", "bank-c");
  write({banks_.credentials("owner", "bank-b", 10), c});
  EXPECT_TRUE(check_now());
  banks_.clock().at += 11 * kDay;
  expect_refused("bank-b's certificate is not accepted: certificate has expired (valid from ");
  write({banks_.credentials("owner", "bank-b"), c});
  EXPECT_TRUE(check_now()) << "the charter is the same";
}

TEST_F(MembersOfBanks, ACertificateWithoutAKeyIsRefused) {
  const Credentials b = banks_.credentials("owner", "bank-b");
  const Certificate old = certificate_from(b.certificate);
  X509_EXTENSION* key = nullptr;
  for (int i = 0; i < X509_get_ext_count(old.get()); ++i)
    if (is_sign_key(X509_get_ext(old.get(), i))) key = X509_delete_ext(old.get(), i);
  ASSERT_NE(key, nullptr);
  X509_EXTENSION_free(key);
  EXPECT_GT(X509_sign(old.get(), key_from(banks_.authority().key).get(), EVP_sha256()), 0);
  Credentials without = b;
  without.certificate = pem_of(old.get());
  write({without, banks_.credentials("owner", "bank-c")});
  expect_refused("bank-b's certificate names no signing key");
}

TEST_F(MembersOfBanks, AKeyThatSomebodyWroteIntoACertificateIsRefused) {
  const Certificate forged = certificate_from(banks_.credentials("owner", "bank-b").certificate);
  const SignKey other = SigningKey::make().public_key();
  for (int i = 0; i < X509_get_ext_count(forged.get()); ++i)
    if (X509_EXTENSION* each = X509_get_ext(forged.get(), i); is_sign_key(each))
      X509_EXTENSION_set_data(each, X509_EXTENSION_get_data(sign_key_extension(other).get()));
  Credentials credentials;
  credentials.certificate = pem_of(forged.get());
  write({credentials, banks_.credentials("owner", "bank-c")});
  charter_.owners[1].sign_key = other;
  EXPECT_FALSE(check_now());
}

TEST_F(MembersOfBanks, OurOwnCertificateMustHaveOurKey) {
  charter_.owners[0].sign_key = SigningKey::make().public_key();
  expect_refused("the charter's sign_key of bank-a is not the one", files_.certificate);
}

TEST_F(MembersOfBanks, OfTwoCertificatesOfOneOwnerEitherDoes) {
  const Credentials b = banks_.credentials("owner", "bank-b");
  const Credentials ended = banks_.credentials("owner", "bank-b", 1);
  banks_.clock().at += 2 * kDay;
  for (const auto& pair : {std::pair{ended, b}, std::pair{b, ended}}) {
    write({pair.first, pair.second, banks_.credentials("owner", "bank-c")});
    EXPECT_TRUE(check_now());
  }
}

TEST_F(MembersOfBanks, TheFileMustBeThereAndWhole) {
  const std::string good = *read_file(files_.members);
  ASSERT_TRUE(write_file(files_.members, good.substr(0, good.size() - 40)));
  expect_refused("is not a list of certificates in PEM");
  ASSERT_TRUE(write_file(files_.members, "bank-b is fine\n"));
  expect_refused("no certificate says which key is bank-b's");
  std::filesystem::remove(files_.members);
  expect_refused("No such file");
}

TEST(Members, AreKeptByTheAuthorityOneOfEachAndAsLongAsTheyAreValid) {
  test::Consortium banks;
  std::string pem;
  const auto add = [&](const std::string& name, int64_t days) {
    const auto added =
        with_member(pem, banks.credentials("owner", name, days).certificate, banks.clock());
    ASSERT_TRUE(added) << describe(added.error());
    pem = *added;
  };
  const auto names = [&] {
    std::vector<std::string> found;
    const auto all = certificates_from(pem);
    for (const Certificate& each : *all) found.push_back(identity_of(each.get())->name);
    std::sort(found.begin(), found.end());
    return found;
  };
  add("bank-b", 10), add("bank-a", 100), add("bank-b", 20);
  EXPECT_EQ(names(), (std::vector<std::string>{"bank-a", "bank-b"}));
  banks.clock().at += 15 * kDay;
  add("bank-c", 10);
  EXPECT_EQ(names(), (std::vector<std::string>{"bank-a", "bank-b", "bank-c"})) << "the renewed one";
  banks.clock().at += 11 * kDay;
  add("bank-a", 10);
  EXPECT_EQ(names(), (std::vector<std::string>{"bank-a"})) << "the others have ended";
  EXPECT_FALSE(with_member("-----BEGIN CERTIFICATE-----\nno", pem, banks.clock()));
}

}  // namespace members_test
}  // namespace parley::net
