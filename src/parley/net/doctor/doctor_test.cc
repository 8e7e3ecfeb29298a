#include "parley/net/doctor/doctor.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <thread>

#include "parley/net/doctor/dial.h"
#include "support/ledgers.h"
#include "support/papers.h"

namespace parley::net {
namespace doctor_test {

int choose_http2(SSL*, const unsigned char** out, unsigned char* size, const unsigned char*,
                 unsigned, void*) {
  *out = reinterpret_cast<const unsigned char*>("h2"), *size = 2;
  return SSL_TLSEXT_ERR_OK;
}

/// A learner of a kind: shakes hands with one caller and waits until it hangs up.
class TlsServer {
 public:
  explicit TlsServer(const Credentials& credentials)
      : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in here{};
    socklen_t size = sizeof here;
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&here);
    check(::bind(listening_.get(), address, size) == 0 && ::listen(listening_.get(), 1) == 0 &&
          ::getsockname(listening_.get(), address, &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
    thread_ = std::thread([this, credentials] { serve(credentials); });
  }
  ~TlsServer() {
    ::shutdown(listening_.get(), SHUT_RDWR);  // In case that nobody called.
    thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  void serve(const Credentials& credentials) {
    const Socket caller(::accept(listening_.get(), nullptr, nullptr));
    if (caller.get() < 0) return;
    const std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context.get(), certificate_from(credentials.certificate).get());
    SSL_CTX_use_PrivateKey(context.get(), key_from(credentials.key).get());
    SSL_CTX_set_alpn_select_cb(context.get(), choose_http2, nullptr);
    const std::unique_ptr<SSL, Freed<SSL_free>> session(SSL_new(context.get()));
    SSL_set_fd(session.get(), caller.get());
    char byte = 0;
    if (SSL_accept(session.get()) == 1) SSL_read(session.get(), &byte, 1);
  }

  Socket listening_;
  std::string address_;
  std::thread thread_;
};

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
    const TlsServer learner(banks_.credentials("learner", "central-bank"));
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
  const TlsServer learner(banks_.credentials("learner", "central-bank", 1));
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
