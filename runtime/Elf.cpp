//===- Elf.cpp - looking into shared objects ------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Elf.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tilebridge::rt {

#if defined(__x86_64__)
static constexpr uint16_t hostMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr uint16_t hostMachine = EM_AARCH64;
#elif defined(__riscv)
static constexpr uint16_t hostMachine = EM_RISCV;
#else
#error "add this machine's ELF code"
#endif

namespace {

/// A file in memory whose every access is checked.
class Image {
public:
  explicit Image(std::string_view bytes) : bytes(bytes) {}

  template <typename T> bool read(uint64_t offset, T &value) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return false;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
  }

  bool contains(uint64_t offset, uint64_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }

  std::string string(uint64_t offset) const {
    if (offset >= bytes.size())
      return "";
    std::string_view rest = bytes.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  bool segments(std::vector<Elf64_Phdr> &result) const {
    Elf64_Ehdr header;
    if (!read(0, header) || header.e_phentsize != sizeof(Elf64_Phdr))
      return false;
    result.resize(header.e_phnum);
    for (unsigned i = 0; i < header.e_phnum; ++i)
      if (!read(header.e_phoff + i * sizeof(Elf64_Phdr), result[i]))
        return false;
    return true;
  }

private:
  std::string_view bytes;
};

class MappedFile {
public:
  explicit MappedFile(const std::string &path) {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0)
      return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      size = size_t(info.st_size);
      changed = info.st_mtim.tv_sec;
      data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile() {
    if (valid())
      munmap(data, size);
  }

  bool valid() const { return data != MAP_FAILED; }
  std::string_view bytes() const {
    return {static_cast<const char *>(data), size};
  }

  size_t size = 0;
  int64_t changed = 0;

private:
  void *data = MAP_FAILED;
};

} // namespace

bool checkSharedObject(std::string_view bytes, std::string &why) {
  Image image(bytes);
  Elf64_Ehdr header;
  if (!image.read(0, header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_type != ET_DYN) {
    why = "it is not a shared object";
    return false;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != hostMachine) {
    why = "it was compiled for another machine";
    return false;
  }
  std::vector<Elf64_Phdr> segments;
  bool hasDynamic = false;
  if (!image.segments(segments)) {
    why = "its program headers lie outside of the file";
    return false;
  }
  for (const Elf64_Phdr &segment : segments) {
    if (!image.contains(segment.p_offset, segment.p_filesz) ||
        segment.p_filesz > segment.p_memsz) {
      why = "a segment lies outside of the file";
      return false;
    }
    hasDynamic |= segment.p_type == PT_DYNAMIC;
  }
  if (!hasDynamic)
    why = "it has no dynamic section";
  return hasDynamic;
}

std::string_view section(std::string_view object, std::string_view name) {
  Image image(object);
  Elf64_Ehdr header;
  Elf64_Shdr names;
  if (!image.read(0, header) ||
      !image.read(header.e_shoff +
                      uint64_t(header.e_shstrndx) * sizeof(Elf64_Shdr),
                  names))
    return {};
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr one;
    if (!image.read(header.e_shoff + i * sizeof(Elf64_Shdr), one))
      return {};
    if (image.string(names.sh_offset + one.sh_name) == name &&
        image.contains(one.sh_offset, one.sh_size))
      return object.substr(one.sh_offset, one.sh_size);
  }
  return {};
}

uint64_t sizeInMemory(std::string_view object) {
  std::vector<Elf64_Phdr> segments;
  uint64_t size = 0;
  if (Image(object).segments(segments))
    for (const Elf64_Phdr &segment : segments)
      if (segment.p_type == PT_LOAD)
        size = std::max(size, segment.p_vaddr + segment.p_memsz);
  return size;
}

static std::string buildId(const Image &image) {
  std::vector<Elf64_Phdr> segments;
  if (!image.segments(segments))
    return "";
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE)
      continue;
    uint64_t at = segment.p_offset, end = at + segment.p_filesz;
    Elf64_Nhdr note;
    while (at < end && image.read(at, note)) {
      uint64_t name = at + sizeof(note);
      uint64_t value = name + ((uint64_t(note.n_namesz) + 3) & ~uint64_t(3));
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          image.contains(value, note.n_descsz)) {
        static const char digits[] = "0123456789abcdef";
        std::string text;
        for (uint32_t i = 0; i < note.n_descsz; ++i) {
          uint8_t byte = 0;
          image.read(value + i, byte);
          text += digits[byte >> 4];
          text += digits[byte & 15];
        }
        return text;
      }
      at = value + ((uint64_t(note.n_descsz) + 3) & ~uint64_t(3));
    }
  }
  return "";
}

static std::string identity(const MappedFile &file) {
  if (!file.valid())
    return "";
  std::string id = buildId(Image(file.bytes()));
  if (id.empty())
    id = std::to_string(file.size) + "@" + std::to_string(file.changed);
  return id;
}

std::string fileIdentity(const std::string &path) {
  return identity(MappedFile(path));
}

/// The names a library needs and its RUNPATH, read from its dynamic section.
static void readDynamic(const Image &image, std::vector<std::string> &needed,
                        std::string &runPath) {
  std::vector<Elf64_Phdr> segments;
  if (!image.segments(segments))
    return;
  auto fileOffset = [&](uint64_t address) -> uint64_t {
    for (const Elf64_Phdr &segment : segments)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return address - segment.p_vaddr + segment.p_offset;
    return UINT64_MAX;
  };
  uint64_t strings = UINT64_MAX, path = UINT64_MAX;
  std::vector<uint64_t> names;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_DYNAMIC)
      continue;
    Elf64_Dyn entry;
    for (uint64_t at = segment.p_offset;
         image.read(at, entry) && entry.d_tag != DT_NULL; at += sizeof(entry)) {
      if (entry.d_tag == DT_STRTAB)
        strings = fileOffset(entry.d_un.d_ptr);
      else if (entry.d_tag == DT_NEEDED)
        names.push_back(entry.d_un.d_val);
      else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
        path = entry.d_un.d_val;
    }
  }
  if (strings == UINT64_MAX)
    return;
  for (uint64_t name : names)
    needed.push_back(image.string(strings + name));
  if (path != UINT64_MAX)
    runPath = image.string(strings + path);
}

std::string libraryIdentity(const std::string &path) {
  MappedFile file(path);
  std::string result = identity(file);
  if (!file.valid())
    return result;
  std::vector<std::string> needed;
  std::string runPath;
  readDynamic(Image(file.bytes()), needed, runPath);
  std::string own = path.substr(0, path.rfind('/') + 1);
  runPath += ":" + own +
             ":/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/local/"
             "lib:/usr/lib";
  for (const std::string &name : needed) {
    if (name.rfind("libLLVM", 0) != 0 && name.rfind("libMLIR", 0) != 0)
      continue;
    for (size_t begin = 0; begin <= runPath.size();) {
      size_t end = std::min(runPath.find(':', begin), runPath.size());
      std::string folder = runPath.substr(begin, end - begin);
      begin = end + 1;
      if (size_t at = folder.find("$ORIGIN"); at != folder.npos)
        folder.replace(at, 7, own);
      std::string id = folder.empty() ? "" : fileIdentity(folder + "/" + name);
      if (id.empty())
        continue;
      result += " " + name + "=" + id;
      break;
    }
  }
  return result;
}

} // namespace tilebridge::rt
