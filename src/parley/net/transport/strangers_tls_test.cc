// Strangers at the learner's door who get no further than TLS or their name: each is refused for a
// reason that the log names, and the honest owners finish the job.
#include <fcntl.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include "parley/net/doctor/dial.h"
#include "support/open_job.h"

namespace parley::net {
namespace strangers_tls_test {

class AtTheDoor : public testing::Test {
 protected:
  /// TLS without gRPC; no papers, no certificate. Waits for the learner's verdict.
  void knock(const Credentials* credentials) {
    const Socket socket = *connect_to(job_.address(), 5000);
    ::fcntl(socket.get(), F_SETFL, 0);  // Blocking.
    const std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
    if (credentials != nullptr) {
      SSL_CTX_use_certificate(context.get(), certificate_from(credentials->certificate).get());
      SSL_CTX_use_PrivateKey(context.get(), key_from(credentials->key).get());
    }
    const std::unique_ptr<SSL, Freed<SSL_free>> session(SSL_new(context.get()));
    constexpr unsigned char kHttp2[] = {2, 'h', '2'};
    SSL_set_alpn_protos(session.get(), kHttp2, sizeof kHttp2);
    SSL_set_fd(session.get(), socket.get());
    char byte = 0;
    EXPECT_TRUE(SSL_connect(session.get()) != 1 || SSL_read(session.get(), &byte, 1) <= 0);
    ERR_clear_error();
  }
  void say(std::string_view bytes) {
    const Socket socket = *connect_to(job_.address(), 5000);
    ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char byte = 0;
    ::fcntl(socket.get(), F_SETFL, 0);
    ::shutdown(socket.get(), SHUT_WR);
    while (::recv(socket.get(), &byte, 1, 0) > 0) {
    }
  }
  void expect_refused(const std::string& words) {
    EXPECT_TRUE(job_.book().says(words)) << job_.book().text();
  }

  test::Consortium banks_ = test::consortium_of_today();
  test::OpenJob job_{banks_};
};

TEST_F(AtTheDoor, WhoeverShowsNoCertificateIsRefused) {
  knock(nullptr);
  expect_refused("before any call: it showed no certificate");
  job_.finish();
}

TEST_F(AtTheDoor, ACertificateOfAnotherAuthorityIsRefusedWhateverNamesItUses) {
  for (const char* consortium : {"banks.example", "clinics.example"}) {
    const Credentials foreign = test::consortium_of_today(consortium).credentials("owner", "one");
    knock(&foreign);
  }
  EXPECT_TRUE(job_.book().says("certificate is not from this consortium's authority", 2));
  job_.finish();
}

TEST_F(AtTheDoor, AnExpiredCertificateIsRefused) {
  const Credentials expired = test::expired_credentials(banks_, "one");
  knock(&expired);
  expect_refused("before any call: its certificate has expired");
  job_.finish();
}

TEST_F(AtTheDoor, WhoeverDoesNotSpeakTlsIsRefused) {
  for (const char* words : {"GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"})
    say(words);
  EXPECT_TRUE(job_.book().says("it does not speak TLS", 2)) << job_.book().text();
  job_.finish();
}

TEST_F(AtTheDoor, RandomBytesInsteadOfAHandshakeDoNoHarm) {
  const std::string hello("\x16\x03\x01\0\x80\x01\0\0\x7c\x03\x03", 11);
  for (size_t i = 0; i < 1000; ++i) {
    const Bytes bytes = test::any_bytes(i, 1 + i % 200);
    say((i % 2 == 0 ? hello : "") + std::string(bytes.begin(), bytes.end()));
  }
  expect_refused("before any call");
  job_.finish();
}

TEST_F(AtTheDoor, ManyWhoComeAtOnceAndSayNothingAreNotWaitedFor) {
  std::vector<Socket> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(*connect_to(job_.address(), 5000));
  job_.finish();
}

TEST_F(AtTheDoor, ValidCertificatesOfNobodyInTheCharterAreRefusedByName) {
  for (const char* role : {"learner", "owner"}) {
    const Credentials credentials = banks_.credentials(role, "three");
    const auto heard = job_.line(credentials)->read();
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, Code::kPolicy);
    expect_refused("refused " + credentials.identity.uri() + ": ");
    expect_refused(credentials.identity.uri() + " is not an owner of charter 010203000000");
  }
  const auto heard = job_.line(banks_.credentials("learner", "one"))->read();
  EXPECT_EQ(heard.error().code, Code::kPolicy) << "an owner's name in another role";
  job_.finish();
}

}  // namespace strangers_tls_test
}  // namespace parley::net
