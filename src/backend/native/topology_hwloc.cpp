// The topology as hwloc 2 sees it. The library is loaded when it is first asked, so that packages do without it.
// topology_absent.cpp takes the place of this file where hwloc's headers are missing.
#include <dlfcn.h>
#include <hwloc.h>

#include <utility>

#include "backend/native/topology.h"

namespace owml::native {
namespace {

constexpr char kLibrary[] = "libhwloc.so.15";  // of all versions 2.x

struct Hwloc {
  decltype(&hwloc_topology_init) topology_init = nullptr;
  decltype(&hwloc_topology_load) topology_load = nullptr;
  decltype(&hwloc_topology_destroy) topology_destroy = nullptr;
  decltype(&hwloc_topology_set_synthetic) topology_set_synthetic = nullptr;
  decltype(&hwloc_get_type_depth) get_type_depth = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) get_nbobjs_by_depth = nullptr;
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
  decltype(&hwloc_bitmap_alloc) bitmap_alloc = nullptr;
  decltype(&hwloc_bitmap_free) bitmap_free = nullptr;
  decltype(&hwloc_bitmap_only) bitmap_only = nullptr;
  decltype(&hwloc_bitmap_first) bitmap_first = nullptr;
  decltype(&hwloc_set_area_membind) set_area_membind = nullptr;
};

// Null, with a clause, where there is no library or no function. It stays loaded.
const Hwloc* Load(std::string* why_not) {
  struct Loaded {
    Hwloc hwloc;
    std::string failure;
  };
  static const Loaded loaded = [] {
    Loaded result;
    void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      result.failure = std::string("the library ") + kLibrary + " (hwloc 2) is not there";
      return result;
    }
    const auto find = [&](const char* name, auto* function) {
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(::dlsym(library, name));
      if (!*function) result.failure = std::string(kLibrary) + " has no " + name;
    };
    find("hwloc_topology_init", &result.hwloc.topology_init);
    find("hwloc_topology_load", &result.hwloc.topology_load);
    find("hwloc_topology_destroy", &result.hwloc.topology_destroy);
    find("hwloc_topology_set_synthetic", &result.hwloc.topology_set_synthetic);
    find("hwloc_get_type_depth", &result.hwloc.get_type_depth);
    find("hwloc_get_nbobjs_by_depth", &result.hwloc.get_nbobjs_by_depth);
    find("hwloc_get_obj_by_depth", &result.hwloc.get_obj_by_depth);
    find("hwloc_bitmap_alloc", &result.hwloc.bitmap_alloc);
    find("hwloc_bitmap_free", &result.hwloc.bitmap_free);
    find("hwloc_bitmap_only", &result.hwloc.bitmap_only);
    find("hwloc_bitmap_first", &result.hwloc.bitmap_first);
    find("hwloc_set_area_membind", &result.hwloc.set_area_membind);
    return result;
  }();
  if (loaded.failure.empty()) return &loaded.hwloc;
  *why_not = loaded.failure;
  return nullptr;
}

class HwlocTopology final : public Topology {
 public:
  explicit HwlocTopology(const Hwloc& hwloc) : hwloc_(hwloc) {
    if (hwloc_.topology_init(&topology_) != 0) topology_ = nullptr;
  }
  ~HwlocTopology() override {
    if (topology_) hwloc_.topology_destroy(topology_);
  }

  // False, with a clause, where hwloc does not understand the description or the machine.
  bool Read(const std::string* description, std::string* why_not) {
    if (!topology_ || (description && hwloc_.topology_set_synthetic(topology_, description->c_str()) != 0) ||
        hwloc_.topology_load(topology_) != 0) {
      *why_not = "hwloc cannot read " + (description ? "'" + *description + "'" : "the machine");
      return false;
    }
    const int depth = hwloc_.get_type_depth(topology_, HWLOC_OBJ_PU);
    for (unsigned i = 0; i < hwloc_.get_nbobjs_by_depth(topology_, depth); ++i) {
      const hwloc_obj_t unit = hwloc_.get_obj_by_depth(topology_, depth, i);
      hwloc_obj_t core = unit;
      while (core->parent && core->type != HWLOC_OBJ_CORE) core = core->parent;
      const int node = unit->nodeset ? hwloc_.bitmap_first(unit->nodeset) : -1;
      processors_.push_back({unit->os_index, core->type == HWLOC_OBJ_CORE ? core->logical_index : i,
                             node < 0 ? 0 : static_cast<uint32_t>(node)});
    }
    if (processors_.empty()) *why_not = "hwloc finds no processor";
    return !processors_.empty();
  }

  const std::vector<Processor>& processors() const override { return processors_; }

  bool Keep(std::byte* pages, size_t bytes, uint32_t node) const override {
    const hwloc_bitmap_t nodes = hwloc_.bitmap_alloc();
    if (!nodes) return false;
    hwloc_.bitmap_only(nodes, node);
    // Without HWLOC_MEMBIND_STRICT a full node is no failure.
    const bool kept = hwloc_.set_area_membind(topology_, pages, bytes, nodes, HWLOC_MEMBIND_BIND,
                                              HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_MIGRATE) == 0;
    hwloc_.bitmap_free(nodes);
    return kept;
  }

 private:
  const Hwloc& hwloc_;
  hwloc_topology_t topology_ = nullptr;
  std::vector<Processor> processors_;
};

std::unique_ptr<Topology> Make(const std::string* description, std::string* why_not) {
  const Hwloc* const hwloc = Load(why_not);
  if (!hwloc) return nullptr;
  auto topology = std::make_unique<HwlocTopology>(*hwloc);
  if (!topology->Read(description, why_not)) return nullptr;
  return topology;
}

}  // namespace

std::unique_ptr<Topology> MachineTopology(std::string* why_not) { return Make(nullptr, why_not); }

std::unique_ptr<Topology> DescribedTopology(const std::string& description, std::string* why_not) {
  return Make(&description, why_not);
}

}  // namespace owml::native
