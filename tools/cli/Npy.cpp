//===- Npy.cpp - NumPy's files -------------------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Npy.h"

#include "tools/cli/Error.h"

#include <cstdlib>
#include <cstring>

namespace tilebridge::cli {

size_t Array::count() const {
  size_t total = 1;
  for (int64_t size : shape)
    total *= size_t(size);
  return total;
}

std::string Array::describe() const {
  std::string text = std::string(dtype->name) + "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

void Array::allocate() {
  constexpr uint64_t most = uint64_t(1) << 46;
  uint64_t total = dtype->size;
  for (int64_t size : shape) {
    if (size < 0 || (size && total > most / uint64_t(size)))
      throw Error(Failed, "an array of " + describe() + " is too large");
    total *= uint64_t(size);
  }
  // Whole lines, at least one: a kernel may be given a pointer to an empty
  // array.
  size_t rounded = (size_t(total) + 64) / 64 * 64;
  auto *pointer = static_cast<uint8_t *>(std::aligned_alloc(64, rounded));
  if (!pointer)
    throw Error(Failed, "no memory for an array of " + describe());
  std::memset(pointer, 0, rounded);
  memory = std::shared_ptr<uint8_t>(pointer, [](uint8_t *p) { std::free(p); });
}

std::vector<int64_t> Array::strides() const {
  std::vector<int64_t> result(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t dimension = isFortranOrder ? i : shape.size() - 1 - i;
    result[dimension] = stride;
    stride *= shape[dimension];
  }
  return result;
}

namespace {

/// The header of a file: the text of a Python dictionary.
class Header {
public:
  Header(std::string text, const std::string &name)
      : text(std::move(text)), name(name) {}

  /// What follows 'key': in the dictionary.
  size_t valueOf(const char *key) const {
    std::string quoted = std::string("'") + key + "'";
    size_t at = text.find(quoted);
    if (at == text.npos)
      fail(std::string("its header has no ") + quoted);
    at = text.find_first_not_of(": ", at + quoted.size());
    if (at == text.npos)
      fail("its header is cut off");
    return at;
  }

  std::string descr() const {
    size_t at = valueOf("descr");
    if (text[at] != '\'')
      fail("its elements are records; a kernel takes plain numbers");
    size_t end = text.find('\'', at + 1);
    return text.substr(at + 1, end == text.npos ? end : end - at - 1);
  }

  bool isFortranOrder() const {
    return text.compare(valueOf("fortran_order"), 4, "True") == 0;
  }

  std::vector<int64_t> shape() const {
    std::vector<int64_t> result;
    size_t at = valueOf("shape");
    size_t end = text.find(')', at);
    if (text[at] != '(' || end == text.npos)
      fail("its header has no shape");
    for (++at; at < end;) {
      size_t digits = text.find_first_not_of("0123456789", at);
      if (digits > at) {
        if (digits - at > 15)
          fail("its shape is too large");
        result.push_back(std::stoll(text.substr(at, digits - at)));
      } else if (text[at] != ',' && text[at] != ' ' && text[at] != 'L') {
        fail("its shape is not a list of numbers");
      }
      at = digits > at ? digits : at + 1;
    }
    return result;
  }

  [[noreturn]] void fail(const std::string &why) const {
    throw Error(Failed,
                name + ": is not a NumPy file that can be read: " + why);
  }

private:
  std::string text;
  const std::string &name;
};

} // namespace

static constexpr char magic[] = "\x93NUMPY";

Array parseNpy(const std::string &bytes, const std::string &name) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), magic, 6) != 0)
    Header("", name).fail("it does not begin as one (np.save writes them)");
  auto byte = [&](size_t at) { return size_t(uint8_t(bytes[at])); };
  size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.size() < start)
    Header("", name).fail("its version " + std::to_string(version) +
                          " is not known");
  size_t size = byte(8) | byte(9) << 8;
  if (version > 1)
    size |= byte(10) << 16 | byte(11) << 24;
  if (size > bytes.size() - start)
    Header("", name).fail("it is truncated");
  Header header(bytes.substr(start, size), name);
  Array array;
  std::string descr = header.descr();
  array.dtype = findWrittenDtype(descr);
  if (!array.dtype)
    header.fail("its elements are '" + descr +
                "', which kernels do not have; convert it with astype (little "
                "endian integers, floats or bool)");
  array.shape = header.shape();
  array.isFortranOrder = header.isFortranOrder();
  array.allocate();
  if (bytes.size() - start - size < array.bytes())
    header.fail("it is truncated");
  std::memcpy(array.data(), bytes.data() + start + size, array.bytes());
  return array;
}

std::string formatNpy(const Array &array) {
  std::string header =
      std::string("{'descr': '") + array.dtype->written +
      "', 'fortran_order': " + (array.isFortranOrder ? "True" : "False") +
      ", 'shape': (";
  for (int64_t size : array.shape)
    header += std::to_string(size) + ",";
  header += "), }";
  // The data begins at a multiple of 64.
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string bytes(magic, 6);
  bytes += char(1);
  bytes += char(0);
  bytes += char(header.size() & 0xff);
  bytes += char(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char *>(array.data()), array.bytes());
  return bytes;
}

} // namespace tilebridge::cli
