#include "parley/net/identity/revocation.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <memory>
#include <utility>

#include "parley/base/files.h"
#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

using List = std::unique_ptr<X509_CRL, Freed<X509_CRL_free>>;
using Entry = std::unique_ptr<X509_REVOKED, Freed<X509_REVOKED_free>>;
using Number = std::unique_ptr<ASN1_INTEGER, Freed<ASN1_INTEGER_free>>;
using Time = std::unique_ptr<ASN1_TIME, Freed<ASN1_TIME_free>>;

constexpr long kVersion2 = 1;  // X.509 counts from 0.

Error damaged(std::string what) {
  return {Code::kIntegrity, std::move(what),
          "Get the authority's newest revoked.crl; without one this party does not start."};
}

/// One list, and nothing after it.
List list_from(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  List list(PEM_read_bio_X509_CRL(memory.get(), nullptr, nullptr, nullptr));
  const List second(PEM_read_bio_X509_CRL(memory.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return second ? nullptr : std::move(list);
}

int64_t number_of(X509_CRL* list) {
  const Number number(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(list, NID_crl_number, nullptr, nullptr)));
  int64_t value = 0;
  return number && ASN1_INTEGER_get_int64(&value, number.get()) == 1 ? value : 0;
}

void add(X509_CRL* list, const std::string& serial, const ASN1_TIME* now) {
  BIGNUM* parsed = nullptr;
  check(BN_hex2bn(&parsed, serial.c_str()) > 0);
  const std::unique_ptr<BIGNUM, Freed<BN_free>> value(parsed);
  const Number number(BN_to_ASN1_INTEGER(value.get(), nullptr));
  Entry entry(X509_REVOKED_new());
  check(number && entry && X509_REVOKED_set_serialNumber(entry.get(), number.get()) == 1 &&
        X509_REVOKED_set_revocationDate(entry.get(), const_cast<ASN1_TIME*>(now)) == 1 &&
        X509_CRL_add0_revoked(list, entry.get()) == 1);
  static_cast<void>(entry.release());  // The list's from now on.
}

Time time_at(int64_t seconds) {
  Time time(ASN1_TIME_set(nullptr, seconds));
  check(time != nullptr);
  return time;
}

}  // namespace

Result<Revocations> parse_revocations(std::string_view pem, std::string_view authority) {
  const List list = list_from(pem);
  if (!list) return damaged("is not one list of revoked certificates in PEM");
  const Certificate issuer = certificate_from(authority);
  check(issuer != nullptr);
  if (X509_CRL_verify(list.get(), X509_get0_pubkey(issuer.get())) != 1)
    return ERR_clear_error(), damaged("is not signed by the consortium's authority");
  Revocations revoked{.number = number_of(list.get()), .pem = std::string(pem)};
  if (revoked.number < 1) return damaged("has no number, so that no list is newer than another");
  const STACK_OF(X509_REVOKED)* entries = X509_CRL_get_REVOKED(list.get());
  for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i)
    revoked.serials.insert(
        serial_text(X509_REVOKED_get0_serialNumber(sk_X509_REVOKED_value(entries, i))));
  return revoked;
}

Result<Revocations> read_revocations(const std::filesystem::path& file,
                                     std::string_view authority) {
  std::error_code unknown;
  if (std::filesystem::symlink_status(file, unknown).type() ==
      std::filesystem::file_type::not_found)
    return Revocations();
  const std::string pem = TRY(read_file(file, kRevokedBytesMax));
  auto revoked = parse_revocations(pem, authority);
  if (revoked) return revoked;
  Error error = revoked.error();
  error.where.file = file.string();
  return error;
}

std::string revocation_list(const Revocations& revoked, std::string_view authority,
                            std::string_view key, Clock& clock) {
  const Certificate issuer = certificate_from(authority);
  const Key signing = key_from(key);
  const List list(X509_CRL_new());
  const Time now = time_at(clock.unix_seconds());
  // It holds until there is a newer one: nobody is shut out because an authority was asleep.
  const Time until = time_at(validity_of(issuer.get()).until);
  const Number number(ASN1_INTEGER_new());
  check(issuer && signing && list && number && X509_CRL_set_version(list.get(), kVersion2) == 1 &&
        X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(issuer.get())) == 1 &&
        X509_CRL_set1_lastUpdate(list.get(), now.get()) == 1 &&
        X509_CRL_set1_nextUpdate(list.get(), until.get()) == 1 &&
        ASN1_INTEGER_set_int64(number.get(), revoked.number) == 1 &&
        X509_CRL_add1_ext_i2d(list.get(), NID_crl_number, number.get(), 0, 0) == 1);
  for (const std::string& serial : revoked.serials) add(list.get(), serial, now.get());
  X509_CRL_sort(list.get());
  check(X509_CRL_sign(list.get(), signing.get(), EVP_sha256()) > 0);
  const Memory memory(BIO_new(BIO_s_mem()));
  char* text = nullptr;
  check(PEM_write_bio_X509_CRL(memory.get(), list.get()) == 1);
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<size_t>(size)};
}

}  // namespace parley::net
