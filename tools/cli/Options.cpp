//===- Options.cpp - the command line -------------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Options.h"

#include "tools/cli/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace tilebridge::cli {

namespace {

/// An option and where its value goes; none of the pointers: it is special.
struct Rule {
  const char *commands; // the commands that know it
  std::string Options::*text = nullptr;
  bool Options::*flag = nullptr;
  unsigned Options::*number = nullptr;
};

const std::map<std::string, Rule> &rules() {
  static const std::map<std::string, Rule> all = {
      {"-o", {"compile seal", &Options::output}},
      {"--output", {"compile seal", &Options::output}},
      {"--target", {"compile run explain eval", &Options::target}},
      {"--load-target", {"compile run", &Options::loadTarget}},
      {"--emit", {"compile", &Options::emit}},
      {"--header", {"compile", &Options::header}},
      {"--print-after", {"compile", &Options::printAfter}},
      {"--time-passes", {"compile", nullptr, &Options::timing}},
      {"--timing", {"compile", nullptr, &Options::timing}}, // the same
      {"--remarks", {"compile", nullptr, &Options::remarks}},
      {"--no-cache", {"compile run", nullptr, &Options::noCache}},
      {"--grid", {"run eval compile", &Options::grid}},
      {"--arg", {"run eval compile"}},
      {"--out", {"run eval"}},
      {"--threads", {"run", nullptr, nullptr, &Options::threads}},
      {"--repeat", {"run", nullptr, nullptr, &Options::repeat}},
      {"--json", {"explain", nullptr, &Options::json}},
      {"--show", {"run eval", nullptr, &Options::show}},
      {"--program", {"eval", &Options::program}},
      {"--order", {"eval", &Options::order}},
      {"--seed", {"eval", &Options::seed}},
      {"--probe", {"eval", &Options::probe}},
      {"--probe-op", {"eval", &Options::probeOp}},
      {"--compare-with", {"eval", &Options::compareWith}},
      {"--trace", {"run", &Options::trace}},
      {"--report", {"run", &Options::report}},
      {"--landing", {"run", &Options::landing}},
      {"--autotile", {"compile run", nullptr, &Options::autotile}},
      {"--exhaustive", {"compile run", nullptr, &Options::exhaustive}},
      {"--depth", {"run compile", nullptr, nullptr, &Options::depth}},
      {"--no-multicast", {"run compile", nullptr, &Options::noMulticast}},
      {"--tolerance", {"eval", &Options::tolerance}},
      {"--help",
       {"compile run eval explain info seal", nullptr, &Options::help}},
      {"-h", {"compile run eval explain info seal", nullptr, &Options::help}},
  };
  return all;
}

unsigned parseNumber(const std::string &option, const std::string &text) {
  unsigned long value = 0;
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos ||
      (value = std::stoul(text)) == 0)
    usageError(option + " wants a number from 1 on, not '" + text + "'");
  return unsigned(value);
}

ArgumentText parseArgument(const std::string &option, const std::string &text) {
  if (option == "--arg")
    return {text, ""};
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return {text, text}; // changed in place
  if (equals == 0 || equals + 1 == text.size())
    usageError("--out wants FILE or FILE=VALUE, such as --out "
               "sum.npy=f32[1024]; '" +
               text + "' is not that");
  return {text.substr(equals + 1), text.substr(0, equals)};
}

/// What belongs to the target in words of its own.
void completeTarget(Options &options) {
  // The plug-in may bring the target.
  if (!options.loadTarget.empty() && options.target == "cpu")
    options.target = "accel:";
  const char *word = !options.loadTarget.empty() ? "--load-target"
                     : options.depth             ? "--depth"
                     : options.noMulticast       ? "--no-multicast"
                                                 : nullptr;
  if (word && options.target.rfind("accel:", 0) != 0)
    usageError(
        std::string(word) +
        " goes with --target=accel:NAME, not with --target=" + options.target);
  if (options.autotile && (options.depth || options.noMulticast))
    usageError("--autotile decides about buffers and multicast itself: it goes "
               "without --depth and --no-multicast");
  if (options.depth)
    options.target += ",depth=" + std::to_string(options.depth);
  if (options.noMulticast)
    options.target += ",multicast=off";
  if (!options.loadTarget.empty())
    options.target += ",plugin=" + options.loadTarget;
}

} // namespace

Options parseOptions(const std::string &command,
                     const std::vector<std::string> &words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i], value;
    if (word.size() < 2 || word[0] != '-') {
      if (!options.input.empty())
        usageError("there are two inputs, '" + options.input + "' and '" +
                   word + "'; `tilebridge " + command + "` takes one");
      options.input = word;
      continue;
    }
    size_t equals = word.substr(0, 2) == "--" ? word.find('=') : word.npos;
    bool hasValue = equals != word.npos;
    if (hasValue) {
      value = word.substr(equals + 1);
      word.resize(equals);
    }
    auto found = rules().find(word);
    if (found == rules().end() ||
        !std::strstr(found->second.commands, command.c_str()))
      usageError("`tilebridge " + command + "` has no option " + word +
                 "; `tilebridge " + command + " --help` lists them");
    const Rule &rule = found->second;
    if (rule.flag) {
      if (hasValue)
        usageError(word + " takes no value");
      options.*rule.flag = true;
      continue;
    }
    if (!hasValue) {
      if (i + 1 == words.size())
        usageError(word + " wants a value");
      value = words[++i];
    }
    if (rule.number)
      options.*rule.number = parseNumber(word, value);
    else if (rule.text)
      options.*rule.text = value;
    else
      options.arguments.push_back(parseArgument(word, value));
  }
  completeTarget(options);
  if (options.input.empty() && !options.help)
    usageError("`tilebridge " + command + "` wants a file; `tilebridge " +
               command + " --help` says more");
  return options;
}

bool isFile(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

/// A device such as /dev/zero never ends; a file does.
static size_t mostBytesOf(const std::string &path) {
  struct stat info;
  bool isFile = stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  return isFile ? SIZE_MAX : size_t(1) << 30;
}

std::string readInput(const std::string &path) {
  FILE *file = path == "-" ? stdin : std::fopen(path.c_str(), "rbe");
  if (!file)
    throw Error(Failed, path + ": cannot be read: " + std::strerror(errno));
  std::string contents;
  char buffer[1 << 16];
  size_t most = mostBytesOf(path);
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file)) {
    if (contents.size() + count > most) {
      std::fclose(file);
      throw Error(Failed, path + ": cannot be read: it is no ordinary file and "
                                 "has more than 1 GiB");
    }
    contents.append(buffer, count);
  }
  bool isBad = std::ferror(file) != 0;
  int error = errno;
  if (file != stdin)
    std::fclose(file);
  if (isBad)
    throw Error(Failed, path + ": cannot be read: " + std::strerror(error));
  return contents;
}

static bool isOrdinary(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

void writeOutput(const std::string &path, const std::string &contents) {
  // Beside the file and then in its place, so that nobody sees half of it; what
  // is no ordinary file, such as /dev/null, is written to.
  bool isDirect = path == "-" || !isOrdinary(path);
  std::string part =
      isDirect ? path : path + "." + std::to_string(getpid()) + ".part";
  FILE *file = path == "-" ? stdout : std::fopen(part.c_str(), "wbe");
  bool isGood = file && std::fwrite(contents.data(), 1, contents.size(),
                                    file) == contents.size();
  int error = errno;
  if (file && (file == stdout ? std::fflush(file) : std::fclose(file)) != 0 &&
      isGood) {
    isGood = false;
    error = errno;
  }
  if (isGood && !isDirect && std::rename(part.c_str(), path.c_str()) != 0) {
    isGood = false;
    error = errno;
  }
  if (isGood)
    return;
  if (!isDirect)
    unlink(part.c_str());
  throw Error(Failed, path + ": cannot be written: " + std::strerror(error));
}

} // namespace tilebridge::cli
