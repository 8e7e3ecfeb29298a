#include "parley/net/doctor/doctor.h"

#include "support/ledgers.h"
#include "support/papers.h"
#include "support/raw_tls.h"

namespace parley::net {
namespace doctor_test {

class DoctorOfABank : public testing::Test {
 protected:
  DoctorOfABank() {
    patient_.files = test::write_credentials(folder_, banks_.credentials("owner", "bank-a"));
    patient_.name = "bank-a";
  }
  ~DoctorOfABank() override { std::filesystem::remove_all(folder_); }

  Diagnosis diagnose_now() { return diagnose(patient_, banks_.clock()); }

  std::filesystem::path folder_ = test::fresh_folder();
  test::Consortium banks_;
  Patient patient_;
};

TEST_F(DoctorOfABank, AsksTheLearnerLastAndPassesItsAnswerOn) {
  for (const bool agrees : {true, false}) {
    const test::RawTlsServer learner(banks_.credentials("learner", "central-bank"), {});
    patient_.dial = learner.address();
    patient_.ask_learner = [&](const Credentials& credentials,
                               const std::string& address) -> Result<void> {
      EXPECT_EQ(credentials.identity.name, "bank-a");
      EXPECT_EQ(address, learner.address());
      if (agrees) return {};
      return Error{Code::kIntegrity, "the learner runs another charter"};
    };
    const Diagnosis found = diagnose_now();
    EXPECT_EQ(found.findings.back().check, "job");
    ASSERT_EQ(found.wrong() == nullptr, agrees);
    if (agrees) continue;
    EXPECT_EQ(found.wrong()->what, "the learner runs another charter");
  }
}

TEST_F(DoctorOfABank, TriesNothingAfterWhatIsWrong) {
  patient_.name = "bank-b";
  patient_.dial = "127.0.0.1:1";
  patient_.ask_learner = [](const Credentials&, const std::string&) -> Result<void> {
    ADD_FAILURE() << "asked";
    return {};
  };
  const Diagnosis found = diagnose_now();
  ASSERT_NE(found.wrong(), nullptr);
  EXPECT_TRUE(found.findings[0].wrong);
  for (size_t i = 1; i < found.findings.size(); ++i) EXPECT_EQ(found.findings[i].said, "");
}

TEST_F(DoctorOfABank, RemindsOfACertificateThatEndsSoon) {
  const auto said = [&] { return diagnose_now().findings[1].said; };
  EXPECT_EQ(said(), "2026-11-15T08:00:00Z, and the certificate lasts until 2027-11-15T08:00:00Z");
  banks_.clock().at += 340 * 86400;
  EXPECT_TRUE(said().ends_with(": have it renewed soon")) << said();
}

TEST_F(DoctorOfABank, BelievesThePeersDatesByItsOwnClockOnly) {
  const test::RawTlsServer learner(banks_.credentials("learner", "central-bank", 1), {});
  patient_.dial = learner.address();
  banks_.clock().at += 2 * 86400;
  const Diagnosis found = diagnose_now();
  ASSERT_NE(found.wrong(), nullptr);
  EXPECT_NE(found.wrong()->what.find("clock says 2026-11-17T08:00:00Z"), std::string::npos)
      << found.wrong()->what;
}

TEST(Address, IsHostAndPort) {
  for (const auto& [text, host, port] :
       {std::tuple{"parley.banks.example:7443", "parley.banks.example", "7443"},
        std::tuple{"[::1]:7443", "::1", "7443"}, std::tuple{"127.0.0.1:1", "127.0.0.1", "1"}}) {
    EXPECT_EQ(split_address(text).host, host);
    EXPECT_EQ(split_address(text).port, port);
  }
}

}  // namespace doctor_test
}  // namespace parley::net
