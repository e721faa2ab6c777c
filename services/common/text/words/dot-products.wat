;; Dot product of two vectors of i8: `dimensions` is a multiple of 4, at least 8. Addresses are bytes.
(module
  (import "words" "memory" (memory 1))
  (func (export "dot") (param $one i32) (param $other i32) (param $dimensions i32) (result i32)
    (local $end i32) (local $sum v128)
    (local.set $end (i32.add (local.get $one) (local.get $dimensions)))
    (loop $eights
      (local.set $sum (i32x4.add (local.get $sum)
        (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $one)) (v128.load8x8_s (local.get $other)))))
      (local.set $one (i32.add (local.get $one) (i32.const 8)))
      (local.set $other (i32.add (local.get $other) (i32.const 8)))
      (br_if $eights (i32.lt_u (i32.add (local.get $one) (i32.const 4)) (local.get $end))))
    (if (i32.lt_u (local.get $one) (local.get $end))
      (then (local.set $sum (i32x4.add (local.get $sum) (i32x4.dot_i16x8_s
        (i16x8.extend_low_i8x16_s (v128.load32_zero (local.get $one)))
        (i16x8.extend_low_i8x16_s (v128.load32_zero (local.get $other))))))))
    (i32.add (i32.add (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32x4.extract_lane 2 (local.get $sum))) (i32x4.extract_lane 3 (local.get $sum)))))
