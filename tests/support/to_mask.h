// Integers for tests of arithmetic under masks. Only tests define the friend that privacy/to_mask.h
// names, so product code cannot make them in this way.
#pragma once

#include "parley/privacy/to_mask.h"

namespace parley::privacy {

struct ToMaskForTest {
  template <class T>
  static ToMask<T> make(T value) {
    return ToMask<T>(std::move(value));
  }
  template <class T>
  static const T& value(const ToMask<T>& hidden) {
    return hidden.value_;
  }
};

}  // namespace parley::privacy
