// Closing item sets over ends and calls of rules, and exploring their steps.
// Called by TokenMasks and ConstraintMatcher.
#include "text/constraint/parser_states.h"

#include <algorithm>
#include <queue>
#include <string>
#include <unordered_set>

#include "base/error.h"

namespace owml::text {
namespace {

[[noreturn]] void FailAmbiguous() {
  throw Error(E_INVALIDARG, "the grammar is too ambiguous: a text can be read in too many ways at once");
}

// A call waiting to be made. A rule's calls come together, after those of every rule that may begin with it.
struct Call {
  uint32_t rank;
  uint32_t rule;
  uint32_t to;
  ParserStates::Link link;
  bool operator>(const Call& other) const { return rank > other.rank; }
};

// Adds items once each. Small sets are searched, large ones hashed.
class ItemList {
 public:
  explicit ItemList(std::vector<ParserStates::Item>* items) : items_(items) {
    for (const auto& item : *items_) Remember(item);
  }
  void Add(ParserStates::Item item) {
    if (items_->size() < kFew) {
      if (std::find(items_->begin(), items_->end(), item) != items_->end()) return;
    } else {
      if (seen_.empty()) {
        for (const auto& old : *items_) seen_.insert(Key(old));
      }
      if (!seen_.insert(Key(item)).second) return;
    }
    if (items_->size() >= ParserStates::kMostItems) FailAmbiguous();
    items_->push_back(item);
  }

 private:
  static constexpr size_t kFew = 16;
  static uint64_t Key(ParserStates::Item item) { return (uint64_t{item.state} << 32) | item.link; }
  void Remember(ParserStates::Item item) {
    if (items_->size() >= kFew) seen_.insert(Key(item));
  }

  std::vector<ParserStates::Item>* items_;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace

size_t ParserStates::ItemsHash::operator()(const Items& items) const noexcept {
  uint64_t hash = items.size();
  for (const Item& item : items) {
    hash ^= (uint64_t{item.state} << 32) | item.link;
    hash *= 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return static_cast<size_t>(hash);
}

ParserStates::ParserStates(std::shared_ptr<const GrammarProgram> program) : program_(std::move(program)) {
  links_.emplace_back();  // kOutside
}

ParserStates::Set ParserStates::Start() { return At(program_->rules()[program_->root()].start); }

ParserStates::Set ParserStates::At(uint32_t state) { return Intern({{state, kOutside}}); }

ParserStates::Set ParserStates::Behind(Link link) {
  if (links_[link].behind == kUnknown) {
    const Set set = Intern(links_[link].items);
    links_[link].behind = set;
  }
  return links_[link].behind;
}

ParserStates::Set ParserStates::Intern(Items kernel) {
  const auto found = known_sets_.find(kernel);
  if (found != known_sets_.end()) return found->second;
  SetData data;
  data.kernel = kernel;
  Close(&data);
  const auto set = static_cast<Set>(sets_.size());
  // A table is made for most sets; it weighs as much as this many items.
  size_ += 2 * kernel.size() + data.active.size() + data.readers.size() + sizeof(Table) / sizeof(Item);
  if (size_ > kMostKept) FailAmbiguous();
  sets_.push_back(std::move(data));
  known_sets_.emplace(std::move(kernel), set);
  return set;
}

ParserStates::Link ParserStates::InternLink(Items items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  const auto [place, fresh] = known_links_.try_emplace(items, static_cast<Link>(links_.size()));
  if (fresh) {
    LinkData data;
    for (const Item& item : items) data.depth = std::max(data.depth, links_[item.link].depth + 1);
    size_ += 2 * items.size();
    data.items = std::move(items);
    links_.push_back(std::move(data));
  }
  return place->second;
}

void ParserStates::Close(SetData* set) {
  const auto& states = program_->states();
  // Rules that end here hand over to their callers, which may end as well.
  set->active = set->kernel;
  {
    ItemList active(&set->active);
    for (size_t i = 0; i < set->active.size(); ++i) {
      const Item item = set->active[i];
      if (!states[item.state].accepts) continue;
      if (item.link == kOutside) set->can_end = true;
      for (const Item& caller : links_[item.link].items) active.Add(caller);
    }
  }
  std::erase_if(set->active, [&](const Item& item) { return states[item.state].only_ends(); });

  std::priority_queue<Call, std::vector<Call>, std::greater<>> calls;
  const auto read = [&](const Item& item) {
    if (states[item.state].byte_edges > 0) {
      if (set->readers.size() >= kMostItems) FailAmbiguous();
      set->readers.push_back(item);
    }
    for (const auto& call : program_->calls(item.state)) {
      calls.push({program_->rules()[call.rule].rank, call.rule, call.to, item.link});
    }
    set->depth = std::max(set->depth, links_[item.link].depth);
  };
  for (const Item& item : set->active) read(item);
  while (!calls.empty()) {
    const uint32_t rule = calls.top().rule;
    Items callers;
    std::vector<Link> links;
    for (; !calls.empty() && calls.top().rule == rule; calls.pop()) {
      // A call at the very end of its rule goes back to the caller's caller at once.
      if (states[calls.top().to].only_ends()) {
        links.push_back(calls.top().link);
      } else {
        callers.push_back({calls.top().to, calls.top().link});
      }
    }
    if (!callers.empty()) links.push_back(InternLink(std::move(callers)));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (Link link : links) read({program_->rules()[rule].start, link});
  }
}

ParserStates::Set ParserStates::Explore(Set set, uint8_t byte) {
  // Over how many bytes around this one the same edges are taken.
  uint32_t first = 0, last = 255;
  Items kernel;
  for (const Item& item : sets_[set].readers) {
    for (const auto& edge : program_->byte_edges(item.state)) {
      if (byte < edge.first) {
        last = std::min<uint32_t>(last, edge.first - 1u);
      } else if (byte > edge.last) {
        first = std::max<uint32_t>(first, edge.last + 1u);
      } else {
        first = std::max<uint32_t>(first, edge.first);
        last = std::min<uint32_t>(last, edge.last);
        kernel.push_back({edge.to, item.link});
      }
    }
  }
  Set next = kDead;
  if (!kernel.empty()) {
    std::sort(kernel.begin(), kernel.end());
    kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
    next = Intern(std::move(kernel));
  }
  auto& table = sets_[set].next;
  if (!table) {
    table = std::make_unique<Table>();
    table->fill(kUnknown);
  }
  for (uint32_t i = first; i <= last; ++i) (*table)[i] = next;
  return next;
}

ParserStates::Set ParserStates::Import(const ParserStates& other, Set set) {
  // Links refer to older ones only, so one pass down finds what is needed and one pass up makes it.
  std::vector<char> needed(other.links_.size(), 0);
  for (const Item& item : other.sets_[set].kernel) needed[item.link] = 1;
  for (size_t i = needed.size(); i-- > 1;) {
    if (!needed[i]) continue;
    for (const Item& item : other.links_[i].items) needed[item.link] = 1;
  }
  std::vector<Link> place(needed.size(), kOutside);
  const auto moved = [&](const Items& items) {
    Items result;
    for (const Item& item : items) result.push_back({item.state, place[item.link]});
    std::sort(result.begin(), result.end());
    return result;
  };
  for (size_t i = 1; i < needed.size(); ++i) {
    if (needed[i]) place[i] = InternLink(moved(other.links_[i].items));
  }
  return Intern(moved(other.sets_[set].kernel));
}

}  // namespace owml::text
