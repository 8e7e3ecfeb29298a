// A key on a token as OpenSSL has keys: TLS and requests sign with it like with any other.
#pragma once

#include <openssl/evp.h>

#include <string_view>

#include "parley/base/result.h"

namespace parley {

/// Of the address of a key on P-256; the caller frees it.
Result<EVP_PKEY*> open_token_pkey(std::string_view address);

}  // namespace parley
