// How many draft tokens are worth a try, from what steps with and without them took and how many were right.
// Asked before each step of speculative decoding; plain arithmetic over measured times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace owml {

class DraftPacing {
 public:
  explicit DraftPacing(uint32_t most) : most_(most) {}

  // For the next step; 0 when drafts cost more than they bring.
  uint32_t Count() const;

  // A step with `drafted` tokens, of which the first `accepted` were right. `seconds` includes drafting them.
  void Observe(uint32_t drafted, uint32_t accepted, double seconds);

 private:
  // The middle of the last few, because a machine that does other work as well gives wild ones.
  class Recent {
   public:
    void Add(double value);
    double Middle() const;
    size_t size() const { return values_.size(); }

   private:
    std::deque<double> values_;
  };

  const uint32_t most_;
  Recent plain_;               // seconds of a step without drafts
  Recent extra_;               // seconds that each draft adds
  double right_ = 2;           // drafts that were right, fading
  double judged_ = 3;          // among so many
  uint32_t since_plain_ = 0;   // steps
  uint32_t since_drafts_ = 0;  // steps
};

}  // namespace owml
