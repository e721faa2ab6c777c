;; Dot products of one query with consecutive rows of a matrix. Dimensions are a multiple of 16, rows lie without gaps.
;; dots:  query and rows are f32; writes one f32 per row to $out.
;; dots8: query and rows are i8;  writes one i32 per row to $out.
;; dots8At: the same for the rows whose addresses (i32) lie at $addresses.
;; distances: number of bits that differ between the query and each row; $bytes is a multiple of 16; one i32 per row.
(module
  (import "kernel" "memory" (memory 1 65536))
  (func (export "dots") (param $query i32) (param $rows i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $last i32) (local $end i32) (local $q i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $last (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $end (i32.add (local.get $query) (i32.shl (local.get $dimensions) (i32.const 2))))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $last)))
        (local.set $q (local.get $query))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0))
        (local.set $d (v128.const f32x4 0 0 0 0))
        (loop $step
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $q)) (v128.load (local.get $rows)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $q)) (v128.load offset=16 (local.get $rows)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $q)) (v128.load offset=32 (local.get $rows)))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $q)) (v128.load offset=48 (local.get $rows)))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 64)))
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (br_if $step (i32.lt_u (local.get $q) (local.get $end))))
        (local.set $a (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
        (f32.store (local.get $out)
          (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
            (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $row))))
  (func (export "dots8") (param $query i32) (param $rows i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $last i32) (local $end i32) (local $q i32)
    (local $a v128) (local $b v128) (local $x v128) (local $y v128)
    (local.set $last (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $end (i32.add (local.get $query) (local.get $dimensions)))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $last)))
        (local.set $q (local.get $query))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (loop $step
          (local.set $x (v128.load (local.get $q)))
          (local.set $y (v128.load (local.get $rows)))
          (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $x)) (i16x8.extend_low_i8x16_s (local.get $y)))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $x)) (i16x8.extend_high_i8x16_s (local.get $y)))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $step (i32.lt_u (local.get $q) (local.get $end))))
        (local.set $a (i32x4.add (local.get $a) (local.get $b)))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
            (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $row))))
  (func (export "dots8At") (param $query i32) (param $addresses i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $last i32) (local $end i32) (local $q i32) (local $rows i32)
    (local $a v128) (local $b v128) (local $x v128) (local $y v128)
    (local.set $last (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $end (i32.add (local.get $query) (local.get $dimensions)))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $last)))
        (local.set $q (local.get $query))
        (local.set $rows (i32.load (local.get $addresses)))
        (local.set $addresses (i32.add (local.get $addresses) (i32.const 4)))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (loop $step
          (local.set $x (v128.load (local.get $q)))
          (local.set $y (v128.load (local.get $rows)))
          (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $x)) (i16x8.extend_low_i8x16_s (local.get $y)))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $x)) (i16x8.extend_high_i8x16_s (local.get $y)))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $step (i32.lt_u (local.get $q) (local.get $end))))
        (local.set $a (i32x4.add (local.get $a) (local.get $b)))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
            (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $row))))
  (func (export "distances") (param $query i32) (param $rows i32) (param $count i32) (param $bytes i32) (param $out i32)
    (local $last i32) (local $end i32) (local $q i32) (local $a v128)
    (local.set $last (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $end (i32.add (local.get $query) (local.get $bytes)))
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $out) (local.get $last)))
        (local.set $q (local.get $query))
        (local.set $a (v128.const i16x8 0 0 0 0 0 0 0 0))
        (loop $step
          (local.set $a (i16x8.add (local.get $a)
            (i16x8.extadd_pairwise_i8x16_u (i8x16.popcnt (v128.xor (v128.load (local.get $q)) (v128.load (local.get $rows)))))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $step (i32.lt_u (local.get $q) (local.get $end))))
        (local.set $a (i32x4.extadd_pairwise_i16x8_u (local.get $a)))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
            (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $row)))))
