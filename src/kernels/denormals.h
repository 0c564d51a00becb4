// Denormal numbers as zero, read and written, while an object lives.
// Used by the vector types; x86-64 only.
#pragma once

#include <xmmintrin.h>

namespace owml::kernels {
namespace {

class DenormalsAreZeroScope {
 public:
  DenormalsAreZeroScope() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~DenormalsAreZeroScope() { _mm_setcsr(before_); }
  DenormalsAreZeroScope(const DenormalsAreZeroScope&) = delete;
  DenormalsAreZeroScope& operator=(const DenormalsAreZeroScope&) = delete;

 private:
  unsigned before_;
};

}  // namespace
}  // namespace owml::kernels
