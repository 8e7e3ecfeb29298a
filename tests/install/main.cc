// Uses the installed headers and library the way an outside program would.
#include <cstdio>

#include "parley/base/bytes.h"
#include "parley/base/entropy.h"
#include "parley/base/result.h"
#include "parley/base/version.h"
#include "parley/privacy/units.h"

namespace {

parley::Result<double> half(double epsilon) {
  return TRY(parley::privacy::Epsilon::make(epsilon)).value() / 2;
}

}  // namespace

int main() {
  parley::SystemEntropy entropy;
  const bool words_differ = entropy.word() != entropy.word();
  const std::string hash = parley::to_hex(parley::sha256(parley::as_bytes("abc")));
  const bool right_hash = hash.starts_with("ba7816bf8f01cfea");
  const bool right_results = *half(1.0) == 0.5 && !half(-1.0);
  std::printf("%.*s\n", static_cast<int>(parley::kVersion.size()), parley::kVersion.data());
  return words_differ && right_hash && right_results ? 0 : 1;
}
