// The normal distribution with the same bits on every machine: made of portable_exp, and of + - * /
// and fma, which IEEE 754 rounds exactly.
#pragma once

namespace parley {

/// The mass of the standard normal distribution above x, within 2^-50 of it; above 37 that of 37.
double normal_above(double x);

}  // namespace parley
