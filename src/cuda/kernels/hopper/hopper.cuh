// Hopper's own instructions (sm_90a): barriers that count bytes, tile copies by the copy engine, products of a warpgroup.
// Shared tiles are rows of 128 bytes (64 bfloat16) in the 128-byte swizzle, each tile at a multiple of 1024 bytes.
#ifndef ORRERY_HOPPER
#define ORRERY_HOPPER
#include "mma.cuh"

// What the driver's cuTensorMapEncodeTiled writes.
struct alignas(64) TensorMap {
  u64 words[16];
};

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void barrier_fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_wait(u32 barrier, u32 phase) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra ready;\nbra again;\nready:\n}"
      ::"r"(barrier), "r"(phase)
      : "memory");
}

// A box of a three-dimensional tensor to shared memory; the barrier counts its bytes.
__device__ __forceinline__ void copy_box(u32 to, const TensorMap* map, u32 barrier, i32 x, i32 y, i32 z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// Named barriers: `sync` waits until `threads` have come or arrived, `arrive` does not wait.
__device__ __forceinline__ void named_sync(u32 name, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_arrive(u32 name, u32 threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

template <int REGISTERS>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// Ordinary stores to shared memory become visible to the copy engine and the tensor cores.
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
// Keeps the compiler from moving uses of accumulators across a point.
template <int N>
__device__ __forceinline__ void pin(float (&values)[N]) {
  UNROLL for (int i = 0; i < N; i++) asm volatile("" : "+f"(values[i])::"memory");
}

#define LOG2E 1.4426950408889634f
#define SWIZZLE_128 1
#define SWIZZLE_64 2

// Where a swizzled tile lies: `leading` and `stride` are bytes between its groups (see PTX, "matrix descriptor").
template <int SWIZZLE = SWIZZLE_128>
__device__ __forceinline__ u64 tile_descriptor(u32 address, u32 leading, u32 stride) {
  return (u64)((address & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)SWIZZLE << 62;
}

#define F8(a, i) "+f"(a[i]), "+f"(a[i + 1]), "+f"(a[i + 2]), "+f"(a[i + 3]), "+f"(a[i + 4]), "+f"(a[i + 5]), "+f"(a[i + 6]), "+f"(a[i + 7])
#define F32(a, i) F8(a, i), F8(a, i + 8), F8(a, i + 16), F8(a, i + 24)

// s [64, 176] (+)= q [64, 16] k [176, 16]^T, both from shared memory, rows contiguous along the 16.
__device__ __forceinline__ void multiply_64x176(float (&s)[88], u64 q, u64 k, i32 accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %90, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n176k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
      "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "
      "%68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87}, "
      "%88, %89, p, 1, 1, 0, 0;\n}"
      : F32(s, 0), F32(s, 32), F8(s, 64), F8(s, 72), F8(s, 80)
      : "l"(q), "l"(k), "r"(accumulate));
}

// o [64, 128] += p [64, 16] v [16, 128], p from registers, v from shared memory, rows contiguous along the 128.
__device__ __forceinline__ void multiply_64x128(float (&o)[64], u32 p0, u32 p1, u32 p2, u32 p3, u64 v, i32 accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
      "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, 1;\n}"
      : F32(o, 0), F32(o, 32)
      : "r"(p0), "r"(p1), "r"(p2), "r"(p3), "l"(v), "r"(accumulate));
}

// s [64, 192] (+)= q [64, 32] k [192, 32]^T of FP8, both from shared memory.
__device__ __forceinline__ void multiply_64x192_fp8(float (&s)[96], u64 q, u64 k, i32 accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
      "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "
      "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, p, 1, 1;\n}"
      : F32(s, 0), F32(s, 32), F32(s, 64)
      : "l"(q), "l"(k), "r"(accumulate));
}

// o [64, 128] += p [64, 32] v [32, 128] of FP8, p from registers, v from shared memory, rows contiguous along the 32.
__device__ __forceinline__ void multiply_64x128_fp8(float (&o)[64], const u32 (&p)[4], u64 v) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
      "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63}, "
      "{%64, %65, %66, %67}, %68, 1, 1, 1;"
      : F32(o, 0), F32(o, 32)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

// Four floats as four FP8 numbers, the first in the lowest byte.
__device__ __forceinline__ u32 pack_e4m3(float a, float b, float c, float d) {
  u32 out;
  asm("{\n.reg .b16 low, high;\ncvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\ncvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n}"
      : "=r"(out)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return out;
}

#endif
