#include "parley/base/crypto/token.h"

#include <dlfcn.h>
#include <p11-kit-1/p11-kit/pkcs11.h>
#include <sodium.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "parley/base/files.h"

namespace parley {
namespace {

constexpr size_t kSignatureBytes = 64;
constexpr size_t kPinBytesMax = 4096;

/// What an address says: the parts before and after "?", with %XX as characters.
using Parts = std::map<std::string, std::string, std::less<>>;

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = from_hex(text.substr(i + 1, 2));
    if (!byte || byte->size() != 1) return std::nullopt;
    out += static_cast<char>(byte->front());
    i += 2;
  }
  return out;
}

Error wrong_address(std::string what) {
  return {Code::kInvalid, "the key's address " + std::move(what),
          "For example pkcs11:token=parley;object=bank-a-tls?module-path=/usr/lib/softhsm/"
          "libsofthsm2.so&pin-source=file:/run/credentials/pin"};
}

Result<Parts> parts_of(std::string_view address) {
  address.remove_prefix(std::string_view("pkcs11:").size());
  const size_t end = address.find_last_not_of(" \t\r\n");
  address = address.substr(0, end == address.npos ? 0 : end + 1);
  Parts parts;
  while (!address.empty()) {
    const size_t size = std::min(address.find_first_of(";?&"), address.size());
    const std::string_view part = address.substr(0, size);
    const size_t equals = part.find('=');
    const auto value = equals == part.npos ? std::nullopt : unescaped(part.substr(equals + 1));
    if (!value || !parts.emplace(part.substr(0, equals), *value).second)
      return wrong_address("has a part that is not NAME=VALUE, or a name twice");
    address.remove_prefix(std::min(size + 1, address.size()));
  }
  for (const auto& [name, value] : parts)
    if (name != "token" && name != "object" && name != "module-path" && name != "pin-source" &&
        name != "type")
      return wrong_address(
          name == "pin-value"
              ? "must not contain the PIN: put it into a file and name that as pin-source"
              : "has a part that is not known: " + name);
  for (const char* name : {"token", "object", "module-path", "pin-source"})
    if (!parts.contains(name)) return wrong_address(std::string("has no ") + name);
  return parts;
}

Result<std::string> read_pin(std::string_view source) {
  if (source.starts_with("file:")) source.remove_prefix(5);
  std::string pin = TRY(read_file(std::string(source), kPinBytesMax));
  while (!pin.empty() && (pin.back() == '\n' || pin.back() == '\r')) pin.pop_back();
  return pin;
}

/// A wrong PIN is for a person to look at: a service manager must not try it again.
Error refusal(const char* what, CK_RV said) {
  const bool pin = said == CKR_PIN_INCORRECT || said == CKR_PIN_LOCKED || said == CKR_PIN_LEN_RANGE;
  return {pin ? Code::kInvalid : Code::kFailed,
          std::string("the token ") + what + " (PKCS #11 says " + std::to_string(said) + ")",
          pin ? "Look at the file of the PIN before you try again: a token locks itself."
              : "Look at the token with pkcs11-tool or its maker's program."};
}

Result<CK_FUNCTION_LIST*> functions_of(const std::string& module) {
  void* library =
      dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);  // Never closed: it has threads of its own.
  const auto list =
      library ? reinterpret_cast<CK_C_GetFunctionList>(dlsym(library, "C_GetFunctionList"))
              : nullptr;
  CK_FUNCTION_LIST* functions = nullptr;
  if (!list || list(&functions) != CKR_OK)
    return Error{Code::kFailed, module + " is no PKCS #11 module",
                 "It comes with the token's software (module-path)."};
  CK_C_INITIALIZE_ARGS how{};
  how.flags = CKF_OS_LOCKING_OK;
  const CK_RV said = functions->C_Initialize(&how);
  if (said != CKR_OK && said != CKR_CRYPTOKI_ALREADY_INITIALIZED)
    return refusal("cannot be initialised", said);
  return functions;
}

/// A label is padded with blanks.
Result<CK_SLOT_ID> slot_of(CK_FUNCTION_LIST* token, const std::string& label) {
  CK_ULONG count = 0;
  token->C_GetSlotList(CK_TRUE, nullptr, &count);
  std::vector<CK_SLOT_ID> slots(count);
  if (count > 0) token->C_GetSlotList(CK_TRUE, slots.data(), &count);
  for (const CK_SLOT_ID slot : slots) {
    CK_TOKEN_INFO info{};
    if (token->C_GetTokenInfo(slot, &info) != CKR_OK) continue;
    std::string_view found(reinterpret_cast<const char*>(info.label), sizeof info.label);
    found = found.substr(0, found.find_last_not_of(' ') + 1);
    if (found == label) return slot;
  }
  return Error{Code::kFailed, "there is no token named " + label,
               "Is it plugged in? `pkcs11-tool --list-slots` shows them."};
}

}  // namespace

struct TokenKey::Session {
  CK_FUNCTION_LIST* token = nullptr;
  CK_SESSION_HANDLE session = 0;
  CK_OBJECT_HANDLE key = 0;
  CK_MECHANISM_TYPE mechanism = 0;
  std::mutex mutex{};
  ~Session() {
    if (session != 0) token->C_CloseSession(session);
  }

  Result<void> log_in(std::string pin) {
    const CK_RV said =
        token->C_Login(session, CKU_USER, reinterpret_cast<unsigned char*>(pin.data()), pin.size());
    sodium_memzero(pin.data(), pin.size());
    if (said != CKR_OK && said != CKR_USER_ALREADY_LOGGED_IN)
      return refusal("does not let us in", said);
    return {};
  }

  Result<CK_OBJECT_HANDLE> find(CK_OBJECT_CLASS wanted, CK_KEY_TYPE type, std::string label) {
    CK_ATTRIBUTE like[] = {{CKA_CLASS, &wanted, sizeof wanted},
                           {CKA_KEY_TYPE, &type, sizeof type},
                           {CKA_LABEL, label.data(), label.size()}};
    CK_OBJECT_HANDLE found[2]{};
    CK_ULONG count = 0;
    CK_RV said = token->C_FindObjectsInit(session, like, std::size(like));
    if (said == CKR_OK) said = token->C_FindObjects(session, found, 2, &count);
    token->C_FindObjectsFinal(session);
    if (said != CKR_OK) return refusal("does not search", said);
    if (count != 1)
      return Error{
          Code::kFailed,
          std::string("the token has ") + (count == 0 ? "no " : "several ") +
              (wanted == CKO_PRIVATE_KEY ? "private" : "public") + " key of this kind named " +
              label,
          "A key for TLS is on P-256, one for receipts Ed25519; both halves have the same label."};
    return found[0];
  }

  /// The point lies in an OCTET STRING of DER.
  Result<Bytes> point_of(CK_OBJECT_HANDLE object, size_t size) {
    Bytes der(size + 2);
    CK_ATTRIBUTE point = {CKA_EC_POINT, der.data(), der.size()};
    const CK_RV said = token->C_GetAttributeValue(session, object, &point, 1);
    if (said != CKR_OK || point.ulValueLen != der.size() || der[0] != 0x04 || der[1] != size)
      return refusal("does not tell the public key", said);
    return Bytes(der.begin() + 2, der.end());
  }
};

TokenKey::TokenKey(std::unique_ptr<Session> session, Bytes point)
    : session_(std::move(session)), point_(std::move(point)) {}
TokenKey::~TokenKey() = default;

Result<std::shared_ptr<const TokenKey>> TokenKey::open(std::string_view address, Kind kind) {
  const Parts parts = TRY(parts_of(address));
  const bool edwards = kind == Kind::kEd25519;
  auto session = std::make_unique<Session>();
  session->token = TRY(functions_of(parts.at("module-path")));
  session->mechanism = edwards ? CKM_EDDSA : CKM_ECDSA;
  const CK_SLOT_ID slot = TRY(slot_of(session->token, parts.at("token")));
  const CK_RV said =
      session->token->C_OpenSession(slot, CKF_SERIAL_SESSION, nullptr, nullptr, &session->session);
  if (said != CKR_OK) return refusal("opens no session", said);
  TRY(session->log_in(TRY(read_pin(parts.at("pin-source")))));
  const CK_KEY_TYPE type = edwards ? CKK_EC_EDWARDS : CKK_EC;
  session->key = TRY(session->find(CKO_PRIVATE_KEY, type, parts.at("object")));
  const CK_OBJECT_HANDLE half = TRY(session->find(CKO_PUBLIC_KEY, type, parts.at("object")));
  Bytes point = TRY(session->point_of(half, edwards ? 32 : 65));
  return std::shared_ptr<const TokenKey>(
      std::make_shared<TokenKey>(std::move(session), std::move(point)));
}

Bytes TokenKey::sign(ByteView bytes) const {
  const std::scoped_lock lock(session_->mutex);
  CK_MECHANISM how = {session_->mechanism, nullptr, 0};
  Bytes signature(kSignatureBytes);
  CK_ULONG size = signature.size();
  auto* data = const_cast<unsigned char*>(bytes.data());  // PKCS #11 knows no const.
  const bool done = session_->token->C_SignInit(session_->session, &how, session_->key) == CKR_OK &&
                    session_->token->C_Sign(session_->session, data, bytes.size(), signature.data(),
                                            &size) == CKR_OK;
  return done && size == kSignatureBytes ? signature : Bytes{};
}

}  // namespace parley
