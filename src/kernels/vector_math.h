// Functions over the vector type V that every kernel shares.
// V is one of the types in vector_<isa>.h: 16 lanes each, whatever registers it takes.
#pragma once

#include <cstddef>

#include "kernels/inline.h"

namespace owml::kernels {

// e^x with a relative error below 2e-7; arguments beyond -87.3 and 88.3 count as these. NaN stays NaN.
template <class V>
OWML_INLINE typename V::F Exp(typename V::F x) {
  using F = typename V::F;
  x = V::Max(V::Set(-87.3f), V::Min(V::Set(88.3f), x));
  const typename V::I n = V::RoundToInt(V::Mul(x, V::Set(1.44269504088896341f)));
  const F whole = V::ToFloat(n);
  F r = V::Fma(whole, V::Set(-0.693359375f), x);  // ln 2 in two parts; the first has zeros at its end
  r = V::Fma(whole, V::Set(2.12194440e-4f), r);
  F p = V::Set(1.9875691500e-4f);
  p = V::Fma(p, r, V::Set(1.3981999507e-3f));
  p = V::Fma(p, r, V::Set(8.3334519073e-3f));
  p = V::Fma(p, r, V::Set(4.1665795894e-2f));
  p = V::Fma(p, r, V::Set(1.6666665459e-1f));
  p = V::Fma(p, r, V::Set(5.0000001201e-1f));
  p = V::Fma(p, V::Mul(r, r), V::Add(r, V::Set(1.0f)));
  return V::Mul(p, V::PowerOfTwo(n));
}

// 2^x with a polynomial for x between 0 and 1, from its highest coefficient down. Arguments below -125 count as that;
// what is above all numbers becomes infinite. NaN stays NaN.
template <class V, class... Coefficients>
OWML_INLINE typename V::F Exp2ByPolynomial(typename V::F x, float highest, Coefficients... others) {
  using F = typename V::F;
  const F power = V::Max(V::Set(-125.0f), x);
  const F r = V::Fraction(power);
  F p = V::Set(highest);
  ((p = V::Fma(p, r, V::Set(others))), ...);
  return V::TimesPowerOfTwo(p, power);
}

// With a relative error below 3e-7.
template <class V>
OWML_INLINE typename V::F Exp2(typename V::F x) {
  return Exp2ByPolynomial<V>(x, 1.87757667e-3f, 8.98934009e-3f, 5.58263181e-2f, 2.40153617e-1f, 6.93153073e-1f,
                             9.99999925e-1f);
}

// With a relative error below 8e-5, for numbers that are rounded to BF16.
template <class V>
OWML_INLINE typename V::F Exp2ForBfloat(typename V::F x) {
  return Exp2ByPolynomial<V>(x, 7.80245227e-2f, 2.26067155e-1f, 6.95833541e-1f, 9.99925219e-1f);
}

// cap * tanh(x / cap), with an absolute error below 3e-7 * cap.
template <class V>
OWML_INLINE typename V::F SoftCap(typename V::F x, typename V::F cap) {
  const typename V::F twice = V::Div(V::Add(x, x), cap);
  const typename V::F one = V::Set(1.0f);
  return V::Mul(cap, V::Sub(one, V::Div(V::Set(2.0f), V::Add(Exp<V>(twice), one))));
}

}  // namespace owml::kernels
