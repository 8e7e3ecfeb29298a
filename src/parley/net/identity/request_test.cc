#include "parley/net/identity/request.h"

#include <openssl/pem.h>

#include "parley/net/identity/x509.h"
#include "support/ledgers.h"
#include "support/papers.h"

namespace parley::net {
namespace request_test {

const Identity kBank{"banks.example", "owner", "bank-a"};
const SignKey kSignKey = test::sign_key_of("bank-a").public_key();
const std::string kUri = "URI:parley://banks.example/owner/bank-a";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Invitation invitation_to(const test::Consortium& consortium) {
  const net::Authority& authority = consortium.authority();
  return {authority.consortium, "learner.example:7443", authority.certificate,
          authority.fingerprint};
}

TEST(Invitation, ComesBackFromItsFile) {
  const test::Consortium banks;
  for (const char* address : {"learner.example:7443", ""}) {
    Invitation sent = invitation_to(banks);
    sent.address = address;
    const auto read = parse_invitation(to_toml(sent), "banks.join");
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->consortium, "banks.example");
    EXPECT_EQ(read->address, address);
    EXPECT_EQ(read->authority, sent.authority);
    EXPECT_EQ(read->fingerprint, sent.fingerprint);
  }
}

TEST(Invitation, IsRefusedWhereItIsNotWhole) {
  const test::Consortium banks, impostor;
  const std::string good = to_toml(invitation_to(banks));
  const std::string digits = to_hex(banks.authority().fingerprint);
  const std::pair<std::string, std::string> wrong[] = {
      {"", "format is missing"},
      {replaced(good, "join/1", "join/2"), "format must be"},
      {replaced(good, "banks.example\"", "banks example\""), "consortium must be"},
      {replaced(good, "banks.example\"", "hospitals.example\""), "not that of an authority"},
      {replaced(good, ":7443", ""), "address must be"},
      {replaced(good, digits, "12"), "fingerprint must be"},
      {replaced(good, digits, to_hex(impostor.authority().fingerprint)), "does not have the"},
      {replaced(good, "BEGIN", "END"), "authority must be one certificate"},
      {good + "more = 1\n", "unknown key more"},
      {good.substr(0, good.size() / 2), ""}};
  for (const auto& [text, why] : wrong) {
    const auto read = parse_invitation(text, "banks.join");
    ASSERT_FALSE(read) << why;
    EXPECT_NE(read.error().what.find(why), std::string::npos) << read.error().what;
    EXPECT_EQ(read.error().where.file, "banks.join");
  }
}

TEST(Invitation, WithACertificateThatIsNoAuthoritysIsRefused) {
  test::Consortium banks;
  Invitation sent = invitation_to(banks);
  sent.authority = banks.credentials("learner", "central-bank").certificate;
  sent.fingerprint = fingerprint_of(certificate_from(sent.authority).get());
  const auto read = parse_invitation(to_toml(sent), "banks.join");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kIntegrity);
}

TEST(Fingerprint, IsSpokenInGroups) {
  Hash hash{};
  hash[0] = 0xab, hash[31] = 0x01;
  EXPECT_EQ(spoken(hash),
            "ab000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001");
}

TEST(Request, SaysWhoAsksWithWhichKey) {
  const Request made = make_request(kBank, kSignKey);
  const auto asked = read_request(made.request, "bank-a.csr");
  ASSERT_TRUE(asked) << describe(asked.error());
  EXPECT_EQ(asked->identity, kBank);
  EXPECT_EQ(asked->key, made.fingerprint);
  EXPECT_EQ(asked->sign_key, kSignKey);
  EXPECT_EQ(fingerprint_of(key_from(made.key).get()), made.fingerprint);
  EXPECT_TRUE(made.key.starts_with("-----BEGIN PRIVATE KEY-----\n")) << "PKCS #8";
  EXPECT_EQ(made.request.find("PRIVATE"), std::string::npos);
  EXPECT_NE(make_request(kBank, kSignKey).fingerprint, made.fingerprint) << "each key is new";
}

/// A request that our own code would not make.
struct Odd {
  std::vector<std::pair<int, std::string>> wishes{{NID_subject_alt_name, kUri}};
  std::vector<SignKey> sign_keys{kSignKey};
  Key key = make_p256();
  bool password = false;
  Key signer{};  // nullptr: key

  std::string pem() const {
    const SigningRequest request(X509_REQ_new());
    X509_REQ_set_pubkey(request.get(), key.get());
    STACK_OF(X509_EXTENSION)* all = sk_X509_EXTENSION_new_null();
    for (const auto& [kind, value] : wishes)
      sk_X509_EXTENSION_push(all, X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
    for (const SignKey& each : sign_keys)
      sk_X509_EXTENSION_push(all, sign_key_extension(each).release());
    if (sk_X509_EXTENSION_num(all) > 0) X509_REQ_add_extensions(request.get(), all);
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
    if (password)
      X509_REQ_add1_attr_by_NID(request.get(), NID_pkcs9_challengePassword, MBSTRING_ASC,
                                reinterpret_cast<const unsigned char*>("secret"), -1);
    const bool edwards = EVP_PKEY_get_id(key.get()) == EVP_PKEY_ED25519;
    EXPECT_GT(X509_REQ_sign(request.get(), signer ? signer.get() : key.get(),
                            edwards ? nullptr : EVP_sha256()),
              0);
    return pem_of(request.get());
  }
};

void expect_refused(const std::string& pem, const std::string& why) {
  const auto asked = read_request(pem, "odd.csr");
  ASSERT_FALSE(asked) << why;
  EXPECT_NE(asked.error().what.find(why), std::string::npos) << asked.error().what;
  EXPECT_EQ(asked.error().where.file, "odd.csr");
}

TEST(Request, WithNothingOddIsAccepted) {
  EXPECT_TRUE(read_request(Odd{}.pem(), "x")) << "or the tests below refuse for another reason";
}

TEST(Request, ThatIsNoneIsRefused) {
  expect_refused("", "is not a request to sign in PEM");
  expect_refused(make_request(kBank, kSignKey).key, "is not a request to sign in PEM");
}

TEST(Request, OfAKeyThatIsNotOnP256IsRefused) {
  for (const char* curve : {"P-224", "P-384", "secp256k1"})
    expect_refused(Odd{.key = Key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve))}.pem(),
                   "not on P-256");
  expect_refused(Odd{.key = Key(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{1024}))}.pem(),
                 "not on P-256");
  expect_refused(Odd{.key = Key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))}.pem(),
                 "not on P-256");
}

TEST(Request, SignedByAnotherKeyIsRefused) {
  expect_refused(Odd{.signer = make_p256()}.pem(), "is not signed by its own key");
}

TEST(Request, ThatAsksForMoreThanItsNameIsRefused) {
  using Wishes = std::vector<std::pair<int, std::string>>;
  const std::pair<Wishes, std::string> wrong[] = {
      {{}, "no URI"},
      {{{NID_subject_alt_name, "DNS:bank-a"}}, "names besides the URI"},
      {{{NID_subject_alt_name, kUri + ",DNS:central-bank"}}, "names besides the URI"},
      {{{NID_subject_alt_name, kUri + ",URI:parley://banks.example/owner/bank-b"}},
       "more than one URI"},
      {{{NID_subject_alt_name, "URI:parley://banks.example/auditor/a"}}, "the role must be"},
      {{{NID_subject_alt_name, kUri}, {NID_basic_constraints, "CA:TRUE"}}, "Basic Constraints"},
      {{{NID_subject_alt_name, kUri}, {NID_ext_key_usage, "serverAuth"}}, "Extended Key Usage"},
      {{{NID_subject_alt_name, kUri}, {NID_subject_alt_name, kUri}}, "twice"}};
  for (const auto& [wishes, why] : wrong) expect_refused(Odd{.wishes = wishes}.pem(), why);
  expect_refused(Odd{.password = true}.pem(), "attributes besides the identity");
}

TEST(Request, OfAnOwnerNamesOneSigningKeyAndOfALearnerNone) {
  const std::string why = "does not name the one key";
  expect_refused(Odd{.sign_keys = {}}.pem(), why);
  expect_refused(Odd{.sign_keys = {kSignKey, kSignKey}}.pem(), why);
  const auto learner = std::vector{
      std::pair{NID_subject_alt_name, std::string("URI:parley://banks.example/learner/bank-a")}};
  expect_refused(Odd{.wishes = learner}.pem(), "which only owners have");
  EXPECT_TRUE(read_request(Odd{.wishes = learner, .sign_keys = {}}.pem(), "x"));
}

TEST(Request, SigningKeysHave32Bytes) {
  const Extension good = sign_key_extension(kSignKey);
  const ASN1_OCTET_STRING* value = X509_EXTENSION_get_data(good.get());
  const Bytes der(ASN1_STRING_get0_data(value),
                  ASN1_STRING_get0_data(value) + ASN1_STRING_length(value));
  const auto read = [&](const Bytes& bytes) {
    const Extension odd = sign_key_extension(kSignKey);
    ASN1_OCTET_STRING_set(X509_EXTENSION_get_data(odd.get()), bytes.data(),
                          static_cast<int>(bytes.size()));
    const Extensions all(sk_X509_EXTENSION_new_null());
    sk_X509_EXTENSION_push(all.get(), X509_EXTENSION_dup(odd.get()));
    return sign_key_of(all.get());
  };
  EXPECT_EQ(read(der), kSignKey);
  Bytes longer = der, shorter = der, other = der;
  longer.push_back(0), shorter.pop_back(), other[0] = V_ASN1_BIT_STRING;
  for (const Bytes& odd : {longer, shorter, other, Bytes()}) EXPECT_EQ(read(odd), std::nullopt);
}

TEST(Request, IsMadeAnewForAKeyThatIsThere) {
  const auto folder = test::fresh_folder();
  const auto file = folder / "bank-a.key";
  const Request first = make_request(kBank, kSignKey);
  ASSERT_TRUE(make_files(std::vector<FileToMake>{{file, first.key, true}}));
  const auto again = make_request(kBank, kSignKey, file);
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(again->fingerprint, first.fingerprint);
  EXPECT_TRUE(read_request(again->request, "bank-a.csr"));
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  EXPECT_FALSE(make_request(kBank, kSignKey, file)) << "others can open it";
  std::filesystem::remove_all(folder);
}

}  // namespace request_test
}  // namespace parley::net
