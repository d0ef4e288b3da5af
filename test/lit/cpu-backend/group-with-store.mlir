// RUN: tilebridge compile --no-cache --target=cpu:znver3 --emit=vector %s -o - | FileCheck %s

// Gradients of a chunk of retention: where products end by the mask of the decay, a nest with a store says nothing about it; it ended the compiler.
// CHECK-LABEL: func.func @chunk_retention_bwd_kernel_dqkv(
module {
  tt.func public @chunk_retention_bwd_kernel_dqkv(%q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %do: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %dh: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %dq: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %dk: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %dv: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s_qk_h: i32 {tt.divisibility = 16 : i32}, %s_qk_t: i32 {tt.divisibility = 16 : i32}, %s_vo_h: i32 {tt.divisibility = 16 : i32}, %s_vo_t: i32 {tt.divisibility = 16 : i32}, %s_h_h: i32 {tt.divisibility = 16 : i32}, %s_h_t: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c1_i64 = arith.constant 1 : i64
    %c128_i64 = arith.constant 128 : i64
    %c64_i64 = arith.constant 64 : i64
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_0 = arith.constant dense<64> : tensor<64xi32>
    %c64_i32 = arith.constant 64 : i32
    %cst_1 = arith.constant dense<1> : tensor<64xi32>
    %b_b = arith.constant -5.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %c4_i32 = arith.constant 4 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = tt.get_program_id z : i32
    %i_h = arith.remsi %2, %c4_i32 : i32
    %n_bh = tt.get_num_programs z : i32
    %b_b_3 = arith.sitofp %i_h : i32 to f32
    %b_b_4 = arith.subf %b_b, %b_b_3 : f32
    %b_b_5 = math.exp2 %b_b_4 : f32
    %b_b_6 = arith.subf %cst_2, %b_b_5 : f32
    %b_b_7 = math.log2 %b_b_6 : f32
    %o_i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %3 = arith.addi %o_i, %cst_1 : tensor<64xi32>
    %4 = arith.sitofp %3 : tensor<64xi32> to tensor<64xf32>
    %5 = tt.splat %b_b_7 : f32 -> tensor<64xf32>
    %6 = arith.mulf %4, %5 : tensor<64xf32>
    %7 = math.exp2 %6 : tensor<64xf32>
    %8 = arith.subi %cst_0, %o_i : tensor<64xi32>
    %9 = arith.subi %8, %cst_1 : tensor<64xi32>
    %10 = arith.sitofp %9 : tensor<64xi32> to tensor<64xf32>
    %11 = arith.mulf %10, %5 : tensor<64xf32>
    %12 = math.exp2 %11 : tensor<64xf32>
    %d_q = tt.splat %scale : f32 -> tensor<64xf32>
    %d_q_8 = arith.mulf %7, %d_q : tensor<64xf32>
    %m_s = tt.expand_dims %o_i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %m_s_9 = tt.expand_dims %o_i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %m_s_10 = tt.broadcast %m_s : tensor<64x1xi32> -> tensor<64x64xi32>
    %m_s_11 = tt.broadcast %m_s_9 : tensor<1x64xi32> -> tensor<64x64xi32>
    %m_s_12 = arith.cmpi sge, %m_s_10, %m_s_11 : tensor<64x64xi32>
    %d_s = arith.subi %m_s_10, %m_s_11 : tensor<64x64xi32>
    %d_s_13 = arith.sitofp %d_s : tensor<64x64xi32> to tensor<64x64xf32>
    %d_s_14 = tt.splat %b_b_7 : f32 -> tensor<64x64xf32>
    %d_s_15 = arith.mulf %d_s_13, %d_s_14 : tensor<64x64xf32>
    %d_s_16 = math.exp2 %d_s_15 : tensor<64x64xf32>
    %d_s_17 = arith.select %m_s_12, %d_s_16, %cst : tensor<64x64xi1>, tensor<64x64xf32>
    %d_s_18 = tt.splat %scale : f32 -> tensor<64x64xf32>
    %d_s_19 = arith.mulf %d_s_17, %d_s_18 : tensor<64x64xf32>
    %p_q = arith.muli %2, %s_qk_h : i32
    %p_q_20 = tt.addptr %q, %p_q : !tt.ptr<f32>, i32
    %p_q_21 = arith.muli %0, %c64_i32 : i32
    %p_q_22 = arith.muli %1, %c64_i32 : i32
    %p_q_23 = arith.extsi %s_qk_t : i32 to i64
    %p_q_24 = tt.make_tensor_ptr %p_q_20, [%c64_i64, %c128_i64], [%c1_i64, %p_q_23], [%p_q_21, %p_q_22] {order = array<i32: 0, 1>} : <tensor<64x64xf32>>
    %p_k = tt.addptr %k, %p_q : !tt.ptr<f32>, i32
    %p_k_25 = tt.make_tensor_ptr %p_k, [%c128_i64, %c64_i64], [%p_q_23, %c1_i64], [%p_q_22, %p_q_21] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    %b_q = tt.load %p_q_24 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_k = tt.load %p_k_25 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_s = tt.dot %b_k, %b_q, %cst : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_s_26 = tt.trans %d_s_19 {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %b_s_27 = arith.mulf %b_s, %b_s_26 : tensor<64x64xf32>
    %p_v = arith.muli %2, %s_vo_h : i32
    %p_v_28 = tt.addptr %v, %p_v : !tt.ptr<f32>, i32
    %p_v_29 = arith.extsi %s_vo_t : i32 to i64
    %p_v_30 = tt.make_tensor_ptr %p_v_28, [%c128_i64, %c64_i64], [%p_v_29, %c1_i64], [%p_q_22, %c0_i32] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    %p_h = arith.muli %2, %s_h_h : i32
    %p_h_31 = tt.addptr %h, %p_h : !tt.ptr<f32>, i32
    %p_h_32 = arith.addi %p_q_22, %p_q_21 : i32
    %p_h_33 = arith.extsi %s_h_t : i32 to i64
    %p_h_34 = tt.make_tensor_ptr %p_h_31, [%c64_i64, %c128_i64], [%c1_i64, %p_h_33], [%c0_i32, %p_h_32] {order = array<i32: 0, 1>} : <tensor<64x64xf32>>
    %p_do = tt.addptr %do, %p_v : !tt.ptr<f32>, i32
    %p_do_35 = tt.make_tensor_ptr %p_do, [%c128_i64, %c64_i64], [%p_v_29, %c1_i64], [%p_q_22, %c0_i32] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    %p_dh = tt.addptr %dh, %p_h : !tt.ptr<f32>, i32
    %p_dh_36 = tt.make_tensor_ptr %p_dh, [%c128_i64, %c64_i64], [%p_h_33, %c1_i64], [%p_h_32, %c0_i32] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    %p_dv = arith.muli %0, %n_bh : i32
    %p_dv_37 = arith.addi %p_dv, %2 : i32
    %p_dv_38 = arith.muli %p_dv_37, %s_vo_h : i32
    %p_dv_39 = tt.addptr %dv, %p_dv_38 : !tt.ptr<f32>, i32
    %p_dv_40 = tt.make_tensor_ptr %p_dv_39, [%c128_i64, %c64_i64], [%p_v_29, %c1_i64], [%p_q_22, %c0_i32] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    %b_v = tt.load %p_v_30 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_do = tt.load %p_do_35 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_h = tt.load %p_h_34 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_dh = tt.load %p_dh_36 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_ds = tt.trans %b_v {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %b_ds_41 = tt.dot %b_do, %b_ds, %cst : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dq = tt.dot %b_do, %b_h, %cst : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dk = tt.trans %b_dh {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dk_42 = tt.dot %b_v, %b_dk, %cst : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dv = tt.dot %b_k, %b_dh, %cst : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dv_43 = tt.expand_dims %12 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %b_dv_44 = tt.broadcast %b_dv_43 : tensor<64x1xf32> -> tensor<64x64xf32>
    %b_dv_45 = arith.mulf %b_dv, %b_dv_44 : tensor<64x64xf32>
    %b_dv_46 = tt.dot %b_s_27, %b_do, %b_dv_45 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    tt.store %p_dv_40, %b_dv_46 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    %b_ds_47 = arith.mulf %b_ds_41, %d_s_19 : tensor<64x64xf32>
    %b_dq_48 = tt.expand_dims %d_q_8 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %b_dq_49 = tt.broadcast %b_dq_48 : tensor<64x1xf32> -> tensor<64x64xf32>
    %b_dq_50 = arith.mulf %b_dq, %b_dq_49 : tensor<64x64xf32>
    %b_dq_51 = tt.dot %b_ds_47, %b_k, %b_dq_50 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dk_52 = arith.mulf %b_dk_42, %b_dv_44 : tensor<64x64xf32>
    %b_dk_53 = tt.dot %b_q, %b_ds_47, %cst : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dk_54 = tt.trans %b_dk_53 {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %b_dk_55 = arith.addf %b_dk_52, %b_dk_54 : tensor<64x64xf32>
    %p_dq = tt.addptr %dq, %p_q : !tt.ptr<f32>, i32
    %p_dq_56 = tt.make_tensor_ptr %p_dq, [%c128_i64, %c64_i64], [%p_q_23, %c1_i64], [%p_q_22, %p_q_21] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    %p_dk = tt.addptr %dk, %p_q : !tt.ptr<f32>, i32
    %p_dk_57 = tt.make_tensor_ptr %p_dk, [%c128_i64, %c64_i64], [%p_q_23, %c1_i64], [%p_q_22, %p_q_21] {order = array<i32: 1, 0>} : <tensor<64x64xf32>>
    tt.store %p_dq_56, %b_dq_51 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    tt.store %p_dk_57, %b_dk_55 {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<64x64xf32>>
    tt.return
  }
}
