// RUN: tilebridge-opt %s -split-input-file -verify-diagnostics -tilebridge-inline

tt.func public @calls_declaration() {
  // expected-error @+1 {{calls 'outside', which has no body}}
  tt.call @outside() : () -> ()
  tt.return
}
// expected-note @+1 {{it is declared here}}
tt.func private @outside()

// -----

tt.func public @kernel(%n: i32) {
  tt.call @first(%n) : (i32) -> ()
  tt.return
}

// expected-note @+1 {{'first' begins here; write a loop instead}}
tt.func private @first(%n: i32) {
  tt.call @harmless(%n) : (i32) -> ()
  // expected-note @+1 {{'first' calls 'second'}}
  tt.call @second(%n) : (i32) -> ()
  tt.return
}

tt.func private @second(%n: i32) attributes {noinline = true} {
  %c = arith.constant true
  scf.if %c {
    // expected-error @+1 {{recursion is not supported: 'second' calls 'first', which led here}}
    tt.call @first(%n) : (i32) -> ()
  }
  tt.return
}

tt.func private @harmless(%n: i32) {
  tt.return
}

// -----

// expected-note @+1 {{'itself' begins here; write a loop instead}}
tt.func private @itself() {
  // expected-error @+1 {{recursion is not supported: 'itself' calls 'itself', which led here}}
  tt.call @itself() : () -> ()
  tt.return
}
