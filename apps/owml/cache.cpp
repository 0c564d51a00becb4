// `owml cache`: the packed weights that the native engine keeps between runs.
// Reads file names and heads only; the engine makes the files.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cache_folder.h"
#include "base/mapped_file.h"
#include "commands.h"
#include "failure.h"
#include "formats/packed_file.h"
#include "json_output.h"
#include "terminal.h"

namespace owml::cli {
namespace {

namespace fs = std::filesystem;

struct Entry {
  fs::path path;
  std::string source;
  uint64_t bytes = 0;
  std::string used;  // local time of the last use
  int64_t used_seconds = 0;
};

fs::path Folder() {
  const auto folder = UserCacheFolder();
  if (!folder) throw Failure("there is no cache folder: set OWML_CACHE_DIR, XDG_CACHE_HOME or HOME");
  return *folder / "packed";
}

std::vector<Entry> Entries() {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(Folder(), error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() != ".owmlpack" || at->is_symlink(ignored) || !at->is_regular_file(ignored)) continue;
    struct stat info = {};
    if (::stat(at->path().c_str(), &info) != 0) continue;
    Entry entry;
    entry.path = at->path();
    entry.bytes = static_cast<uint64_t>(info.st_size);
    entry.used_seconds = info.st_mtim.tv_sec;
    const auto head = PackedFileHead::Parse(ReadFileStart(at->path(), PackedFileHead::kBytes));
    entry.source = head ? head->source : "(damaged)";
    std::tm local = {};
    char text[32] = {};
    if (::localtime_r(&info.st_mtim.tv_sec, &local)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
    entry.used = text;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used_seconds > b.used_seconds; });
  return entries;
}

uint64_t TotalBytes(const std::vector<Entry>& entries) {
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  return total;
}

int Show(bool as_json) {
  const std::vector<Entry> entries = Entries();
  if (as_json) {
    Json files = Json::array();
    for (const Entry& entry : entries) {
      files.push_back({{"file", entry.path.string()},
                       {"source", entry.source},
                       {"bytes", entry.bytes},
                       {"lastUseUnixSeconds", entry.used_seconds}});
    }
    PrintJson({{"folder", Folder().string()}, {"bytes", TotalBytes(entries)}, {"files", files}});
    return kOk;
  }
  if (!entries.empty()) {
    Table table({"model", "bytes", "last use"});
    table.AlignRight(1);
    for (const Entry& entry : entries) table.Add({OneLine(entry.source, 80), Grouped(entry.bytes), entry.used});
    table.Print(stdout);
    std::printf("\n");
  }
  std::printf("%s: %zu files, %s\n", Folder().c_str(), entries.size(), HumanBytes(TotalBytes(entries)).c_str());
  return kOk;
}

int Clear(bool as_json) {
  const std::vector<Entry> entries = Entries();
  for (const Entry& entry : entries) {
    std::error_code error;
    fs::remove(entry.path, error);
    if (error) throw Failure("cannot remove '" + entry.path.string() + "': " + error.message());
  }
  if (as_json) {
    PrintJson({{"folder", Folder().string()}, {"removedFiles", entries.size()}, {"removedBytes", TotalBytes(entries)}});
  } else {
    std::printf("%zu files removed, %s\n", entries.size(), HumanBytes(TotalBytes(entries)).c_str());
  }
  return kOk;
}

}  // namespace

void AddCache(CLI::App& app, const Globals& globals, Action& action) {
  CLI::App* verb = app.add_subcommand("cache", "Packed weights that the native engine keeps between runs");
  verb->require_subcommand(1);
  verb->fallthrough();
  CLI::App* show = verb->add_subcommand("show", "List them: model, bytes, last use");
  CLI::App* clear = verb->add_subcommand("clear", "Remove them all; they are made again when needed");
  verb->footer(
      "Environment: OWML_CACHE_DIR moves the cache, OWML_PACKED_CACHE=off switches it off,\n"
      "OWML_PACKED_CACHE_MIB=N limits its size (16384).\n\n"
      "Examples:\n"
      "  owml cache show\n"
      "  owml cache clear");
  show->callback([&globals, &action] { action = [&globals] { return Show(globals.json); }; });
  clear->callback([&globals, &action] { action = [&globals] { return Clear(globals.json); }; });
}

}  // namespace owml::cli
