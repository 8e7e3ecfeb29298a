#include "parley/learn/sql/exp.h"

#include <cmath>

namespace parley::learn {
namespace {

using data::sql::choose;
using data::sql::Writer;

std::string sum(const std::string& a, const std::string& b) { return "(" + a + " + " + b + ")"; }
std::string product(const std::string& a, const std::string& b) {
  return "(" + a + " * " + b + ")";
}

/// e^r = 1 + (r + r2 P(r)), in the order of pure_exp.
std::string mantissa(Writer& w) {
  const std::string r = "r", r2 = "r2", r4 = "(r2 * r2)";
  const auto line = [&](double slope, double constant) {
    return sum(product(w.real(slope), r), w.real(constant));
  };
  const std::string p01 = line(0x1.5555555555555p-3, 0x1.0p-1);
  const std::string p23 = line(0x1.11111111110bap-7, 0x1.5555555555555p-5);
  const std::string p45 = line(0x1.a01a01a39dfe4p-13, 0x1.6c16c16c16a93p-10);
  const std::string p67 = line(0x1.71de1ae5055fcp-19, 0x1.a01a01a2ba8c3p-16);
  const std::string p89 = line(0x1.af1ddc4b815e6p-26, 0x1.27e4e7c9c1412p-22);
  const std::string p8to10 = sum(product(w.real(0x1.1f5abc199866p-29), r2), p89);
  const std::string p4to10 = sum(product(r4, p8to10), sum(product(r2, p67), p45));
  const std::string p = sum(product(r4, p4to10), sum(product(r2, p23), p01));
  return sum(w.real(1), sum(product(r2, p), r));
}

/// 2^-k of a whole number 0 <= k < 1024, as factors that are exact.
std::string power(Writer& w) {
  std::string text = "mantissa";
  for (int bit = 512; bit >= 1; bit /= 2)
    text = product(text, choose("(k & " + std::to_string(bit) + ") > 0",
                                w.real(std::ldexp(1.0, -bit)), w.real(1)));
  return text;
}

}  // namespace

void write_exp(Writer& w, std::vector<std::string> keep) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefa3p-1, kLn2Low = 0x1.3de6af278ece6p-42;
  auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> all = keep;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string shift = w.real(0x1.8p52);
  // x = -size; e^x is 1 below 2^-100, and powers of what is left do not underflow.
  w.step(keep,
         {{"x", choose("size >= " + w.real(0x1p-100), "(" + w.real(0) + " - size)", w.real(0))}});
  w.step(with({"x"}), {{"n", "((x * " + w.real(kLog2E) + " + " + shift + ") - " + shift + ")"}});
  w.step(keep, {{"r", "((x - n * " + w.real(kLn2High) + ") - n * " + w.real(kLn2Low) + ")"},
                {"k", "cast(" + w.real(0) + " - n as bigint)"}});
  w.step(with({"r", "k"}), {{"r2", "(r * r)"}});
  w.step(with({"k"}), {{"mantissa", mantissa(w)}});
  w.step(keep, {{"e", power(w)}});
}

}  // namespace parley::learn
