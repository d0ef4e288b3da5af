//===- BlockKernel.cpp - text of kernels on whole blocks -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockKernel.h"

using namespace tilebridge::cpu;

std::string test::pointer(const std::string &type) {
  return "memref<?x" + type + ", strided<[1], offset: ?>>";
}

std::string test::tensor(const std::vector<int64_t> &shape,
                         const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

std::string
test::kernel(const std::vector<std::pair<std::string, std::string>> &pointers,
             const std::string &body) {
  std::string text = "func.func @k(";
  for (auto &[name, type] : pointers)
    text += "%" + name + ": " + pointer(type) + ", ";
  return text +
         "%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) "
         "attributes {tilebridge.kernel} {\n"
         "  %c0 = arith.constant 0 : index\n" +
         body + "  return\n}\n";
}

std::string test::load(const std::string &name, const std::string &from,
                       const std::vector<int64_t> &shape,
                       const std::string &type) {
  std::string sizes, strides, mem;
  int64_t stride = 1;
  std::string strideList;
  for (size_t i = shape.size(); i-- > 0;) {
    sizes = std::to_string(shape[i]) + (sizes.empty() ? "" : ", ") + sizes;
    strideList =
        std::to_string(stride) + (strideList.empty() ? "" : ", ") + strideList;
    mem = std::to_string(shape[i]) + "x" + mem;
    stride *= shape[i];
  }
  std::string view =
      "memref<" + mem + type + ", strided<[" + strideList + "], offset: ?>>";
  return "  %" + name + "_v = memref.reinterpret_cast %" + from +
         " to offset: [%c0], sizes: [" + sizes + "], strides: [" + strideList +
         "] : " + pointer(type) + " to " + view + "\n  %" + name +
         " = bufferization.to_tensor %" + name + "_v : " + view + " to " +
         tensor(shape, type) + "\n";
}

std::string test::storeTo(const std::string &value, const std::string &to,
                          const std::vector<int64_t> &shape,
                          const std::string &type) {
  std::string text = load("unused_" + to, to, shape, type);
  text = text.substr(0, text.find('\n') + 1);
  std::string view = text.substr(text.rfind(" to ") + 4);
  view.pop_back();
  return text + "  bufferization.materialize_in_destination %" + value +
         " in writable %unused_" + to + "_v : (" + tensor(shape, type) + ", " +
         view + ") -> ()\n";
}
