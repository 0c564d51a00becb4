// Which vector instructions the kernels use: what the machine has, lowered by OWML_FORCE_ISA.
// Called by kernels.cpp to pick a table and by whatever reports it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace owml::kernels {

enum class Isa { kScalar, kAvx2, kAvx512 };

// "scalar", "avx2", "avx512".
std::string_view Name(Isa isa);
std::optional<Isa> IsaNamed(std::string_view name);

// Those the machine and this build can run, weakest first. kAvx2 needs AVX2, FMA and F16C; kAvx512 the parts F, BW, DQ,
// VL and VNNI.
std::vector<Isa> UsableIsas();

// The strongest usable one, or the one that OWML_FORCE_ISA names. Throws E_INVALIDARG for another word and
// ERROR_NOT_SUPPORTED for one that the machine lacks.
Isa ChosenIsa();

// Whether the machine also multiplies BF16 numbers with vectors of 512 bits.
bool HasAvx512Bf16();

}  // namespace owml::kernels
