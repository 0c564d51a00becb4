// Detection of vector instructions and the override by environment.
// The names here are those of OWML_FORCE_ISA.
#include "kernels/isa.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace owml::kernels {
namespace {

constexpr std::array kAll = {Isa::kScalar, Isa::kAvx2, Isa::kAvx512};

#if defined(__x86_64__)
// clang 14 has no name for it in __builtin_cpu_supports. It uses the registers of AVX, so the system's support is that
// of AVX2.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c(); }
bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

// clang 14 has no name for it either.
bool HasBf16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1u << 5)) != 0;
}
#else
bool HasBf16() { return false; }
bool HasAvx2() { return false; }
bool HasAvx512() { return false; }
#endif

}  // namespace

std::string_view Name(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "";
}

std::optional<Isa> IsaNamed(std::string_view name) {
  const auto* found = std::find_if(kAll.begin(), kAll.end(), [&](Isa isa) { return Name(isa) == name; });
  if (found == kAll.end()) return std::nullopt;
  return *found;
}

std::vector<Isa> UsableIsas() {
  std::vector<Isa> usable = {Isa::kScalar};
  if (HasAvx2()) usable.push_back(Isa::kAvx2);
  if (HasAvx512()) usable.push_back(Isa::kAvx512);
  return usable;
}

bool HasAvx512Bf16() { return HasAvx512() && HasBf16(); }

Isa ChosenIsa() {
  const std::vector<Isa> usable = UsableIsas();
  const char* value = std::getenv("OWML_FORCE_ISA");
  const std::string word = value ? value : "";
  if (word.empty()) return usable.back();
  const std::optional<Isa> isa = IsaNamed(word);
  if (!isa) throw Error(E_INVALIDARG, "OWML_FORCE_ISA is '" + word + "'; scalar, avx2 and avx512 are known");
  if (std::find(usable.begin(), usable.end(), *isa) == usable.end()) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "OWML_FORCE_ISA is '" + word + "', which this machine cannot run");
  }
  return *isa;
}

}  // namespace owml::kernels
