// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics -tilebridge-lift-control-flow

// expected-error @+1 {{its blocks do not all end the same way; expected one kind of return}}
tt.func @two_kinds_of_return(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  llvm.unreachable
}

// -----

// expected-error @+1 {{its branches could not be turned into loops and conditions}}
tt.func @unknown_branch(%c: i1) {
  // expected-error @+1 {{Cannot convert unknown control flow op to structured control flow}}
  llvm.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.print "here" {hex = false, isSigned = array<i32>}
  tt.return
}
