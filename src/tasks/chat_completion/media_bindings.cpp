// Bindings first, then the images that none of them names.
// See media_bindings.h.
#include "tasks/chat_completion/media_bindings.h"

#include <cwchar>
#include <set>
#include <string>
#include <utility>

#include "com/guard.h"

namespace owml {
namespace {

using Place = std::pair<UINT32, UINT32>;  // message, part

std::string NameOf(const Place& place) {
  return "part " + std::to_string(place.second) + " of message " + std::to_string(place.first);
}

bool IsImage(const WINML_CONVERSATION_CONTENT_PART& part) { return part.type && std::wcscmp(part.type, L"image") == 0; }

}  // namespace

void CheckMediaBindings(const WINML_CONVERSATION_REQUEST& request, std::span<const WINML_CHAT_MEDIA_BINDING> bindings) {
  if (request.messageCount != 0) RequirePointer(request.messages, "request.messages");
  std::set<Place> bound;
  for (const WINML_CHAT_MEDIA_BINDING& binding : bindings) {
    const Place place = {binding.messageIndex, binding.contentPartIndex};
    RequirePointer(binding.tensor, "bindings.tensor");
    Require(place.first < request.messageCount, E_INVALIDARG,
            "a binding names message " + std::to_string(place.first) + " of " + std::to_string(request.messageCount));
    const WINML_CONVERSATION_MESSAGE& message = request.messages[place.first];
    Require(place.second < message.contentPartCount && message.contentParts, E_INVALIDARG,
            "a binding names " + NameOf(place) + ", which has " + std::to_string(message.contentPartCount) + " parts");
    const WINML_CONVERSATION_CONTENT_PART& part = message.contentParts[place.second];
    Require(IsImage(part), E_INVALIDARG, NameOf(place) + " is bound and is no image");
    Require(!part.text && !part.jsonValue, E_INVALIDARG,
            NameOf(place) + " is an image and has text or a JSON value as well");
    Require(bound.insert(place).second, E_INVALIDARG, NameOf(place) + " is bound twice");
  }
  for (UINT32 i = 0; i < request.messageCount; ++i) {
    const WINML_CONVERSATION_MESSAGE& message = request.messages[i];
    for (UINT32 j = 0; message.contentParts && j < message.contentPartCount; ++j) {
      Require(!IsImage(message.contentParts[j]) || bound.count({i, j}) != 0, E_INVALIDARG,
              NameOf({i, j}) + " is an image without a binding");
    }
  }
}

}  // namespace owml
