#include "parley/base/crypto/token_evp.h"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>

#include "parley/base/crypto/token.h"

// EC_KEY_METHOD is deprecated in favour of providers: whole libraries, of which Debian 12 has none
// for PKCS #11. Nothing else here uses it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace parley {
namespace {

using Held = std::shared_ptr<const TokenKey>;

void free_held(void*, void* held, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Held*>(held);
}

int held_copy(CRYPTO_EX_DATA*, const CRYPTO_EX_DATA*, void** held, int, long, void*) {
  *held = *held ? new Held(*static_cast<Held*>(*held)) : nullptr;
  return 1;
}

int held_index() {
  static const int index = EC_KEY_get_ex_new_index(0, nullptr, nullptr, held_copy, free_held);
  return index;
}

ECDSA_SIG* sign_on_token(const unsigned char* digest, int size, const BIGNUM*, const BIGNUM*,
                         EC_KEY* key) {
  const auto* held = static_cast<const Held*>(EC_KEY_get_ex_data(key, held_index()));
  const Bytes made = (*held)->sign(ByteView(digest, static_cast<size_t>(size)));
  if (made.size() != 64) return nullptr;
  ECDSA_SIG* signature = ECDSA_SIG_new();
  check(signature != nullptr);
  check(ECDSA_SIG_set0(signature, BN_bin2bn(made.data(), 32, nullptr),
                       BN_bin2bn(made.data() + 32, 32, nullptr)) == 1);
  return signature;
}

/// OpenSSL's own method but for the signature itself.
const EC_KEY_METHOD* token_method() {
  static const EC_KEY_METHOD* method = [] {
    EC_KEY_METHOD* made = EC_KEY_METHOD_new(EC_KEY_OpenSSL());
    int (*sign)(int, const unsigned char*, int, unsigned char*, unsigned int*, const BIGNUM*,
                const BIGNUM*, EC_KEY*) = nullptr;
    int (*setup)(EC_KEY*, BN_CTX*, BIGNUM**, BIGNUM**) = nullptr;
    EC_KEY_METHOD_get_sign(EC_KEY_OpenSSL(), &sign, &setup, nullptr);
    EC_KEY_METHOD_set_sign(made, sign, setup, sign_on_token);
    return made;
  }();
  return method;
}

}  // namespace

Result<EVP_PKEY*> open_token_pkey(std::string_view address) {
  auto token = TRY(TokenKey::open(address, TokenKey::Kind::kP256));
  EC_KEY* key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  check(key != nullptr);
  const Bytes& point = token->public_point();
  if (EC_KEY_oct2key(key, point.data(), point.size(), nullptr) != 1) {
    EC_KEY_free(key);
    return Error{Code::kInvalid, "the key on the token is not on P-256",
                 "Make one: pkcs11-tool --keypairgen --key-type EC:prime256v1"};
  }
  EVP_PKEY* made = EVP_PKEY_new();
  check(EC_KEY_set_method(key, token_method()) == 1 &&
        EC_KEY_set_ex_data(key, held_index(), new Held(std::move(token))) == 1 && made != nullptr &&
        EVP_PKEY_assign_EC_KEY(made, key) == 1);
  return made;
}

}  // namespace parley
#pragma GCC diagnostic pop
