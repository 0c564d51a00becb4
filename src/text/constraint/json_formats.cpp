// The formats that a JSON Schema may assert, as patterns after the standards that it names.
// Called by the schema compiler.
#include <map>
#include <mutex>

#include "text/constraint/json_strings.h"
#include "text/constraint/pattern.h"

namespace owml::text {
namespace {

// Parts, put together below. RFC 3339, 5321, 1123, 2673, 4291, 3986, 6901, 4122 and ISO 8601.
const char kMonthDay[] =
    R"(((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8])))";
const char kLeapYear[] = R"((\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00))";
// A leap second ends a day in UTC.
const char kTime[] =
    R"((([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([zZ]|[-+]([01]\d|2[0-3]):[0-5]\d)|23:59:60(\.\d+)?([zZ]|[-+]00:00)))";
const char kByte[] = R"((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";
const char kLabel[] = R"([A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)";

std::string Date() { return "(\\d{4}-" + std::string(kMonthDay) + "|" + kLeapYear + "-02-29)"; }
std::string Ipv4() { return std::string(kByte) + "(\\." + kByte + "){3}"; }
// Labels are limited, their number is not: counting to 253 beside them would take too many states.
std::string Hostname() { return std::string(kLabel) + "(\\." + kLabel + ")*"; }

std::string Ipv6() {
  const std::string h = "[0-9A-Fa-f]{1,4}", tail = "(" + h + ":" + h + "|" + Ipv4() + ")";
  // As RFC 3986 writes it: "::" stands for at least one group.
  return "((" + h + ":){6}" + tail + "|::(" + h + ":){5}" + tail + "|(" + h + ")?::(" + h + ":){4}" + tail + "|((" + h +
         ":)?" + h + ")?::(" + h + ":){3}" + tail + "|((" + h + ":){0,2}" + h + ")?::(" + h + ":){2}" + tail + "|((" +
         h + ":){0,3}" + h + ")?::" + h + ":" + tail + "|((" + h + ":){0,4}" + h + ")?::" + tail + "|((" + h +
         ":){0,5}" + h + ")?::" + h + "|((" + h + ":){0,6}" + h + ")?::)";
}

std::string Email() {
  const std::string atom = R"([A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)";
  const std::string quoted = R"("([ !#-\[\]-~]|\\[ -~])*")";
  return "(" + atom + "(\\." + atom + ")*|" + quoted + ")@(" + Hostname() + "|\\[(" + Ipv4() + "|IPv6:" + Ipv6() +
         ")\\])";
}

std::string Uri(bool reference) {
  const std::string pct = "%[0-9A-Fa-f]{2}", unreserved = "A-Za-z0-9._~\\-", sub = "!$&'()*+,;=";
  const std::string pchar = "([" + unreserved + sub + ":@]|" + pct + ")";
  const std::string no_colon = "([" + unreserved + sub + "@]|" + pct + ")";
  const std::string host = "(\\[(" + Ipv6() + "|[vV][0-9A-Fa-f]+\\.[" + unreserved + sub + ":]+)\\]|([" + unreserved +
                           sub + "]|" + pct + ")*)";
  const std::string authority = "//(([" + unreserved + sub + ":]|" + pct + ")*@)?" + host + "(:\\d*)?";
  const std::string abempty = "(/" + pchar + "*)*", absolute = "/(" + pchar + "+(/" + pchar + "*)*)?";
  const std::string rootless = pchar + "+(/" + pchar + "*)*", noscheme = no_colon + "+(/" + pchar + "*)*";
  const std::string tail = "(\\?(" + pchar + "|[/?])*)?(#(" + pchar + "|[/?])*)?";
  const std::string uri = "[A-Za-z][A-Za-z0-9+.-]*:(" + authority + abempty + "|" + absolute + "|" + rootless + "|)";
  if (!reference) return uri + tail;
  return "(" + uri + "|" + authority + abempty + "|" + absolute + "|" + noscheme + "|)" + tail;
}

std::string Duration() {
  // At least one part; seconds, minutes and hours in order, and so on, as RFC 3339 appendix A has it.
  const std::string time = R"(T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))";
  const std::string date = R"((\d+D|\d+M(\d+D)?|\d+Y(\d+M(\d+D)?)?))";
  return "P(" + date + "(" + time + ")?|" + time + R"(|\d+W))";
}

std::string PatternOf(const std::string& name) {
  if (name == "date") return Date();
  if (name == "time") return kTime;
  if (name == "date-time") return Date() + "[tT]" + kTime;
  if (name == "duration") return Duration();
  if (name == "email") return Email();
  if (name == "hostname") return Hostname();
  if (name == "ipv4") return Ipv4();
  if (name == "ipv6") return Ipv6();
  if (name == "uuid") return "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";
  if (name == "uri") return Uri(false);
  if (name == "uri-reference") return Uri(true);
  if (name == "json-pointer") return R"((/([^~/]|~[01])*)*)";
  if (name == "relative-json-pointer") return R"((0|[1-9]\d*)(#|(/([^~/]|~[01])*)*))";
  return {};
}

}  // namespace

std::shared_ptr<const Automaton> FormatStrings(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Automaton>> known;
  const std::string pattern = PatternOf(name);
  if (pattern.empty()) return nullptr;
  const std::lock_guard lock(mutex);
  auto& automaton = known[name];
  if (!automaton) {
    automaton = std::make_shared<const Automaton>(Pattern::Parse(pattern, "format " + name).Whole());
  }
  return automaton;
}

}  // namespace owml::text
