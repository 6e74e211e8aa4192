// CUDA's device language for a host compiler: every thread of a block is a coroutine, blocks run one after the other.
// Included in front of a kernel file by the emulator; slow and single-threaded, meant for checking what kernels compute.
#pragma once
#define ORRERY_EMULATED
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <utility>

#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define UNROLL
#define DYNAMIC_SHARED(name) unsigned char* name = emulated::dynamic_shared

struct Dimensions {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

static Dimensions threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

const int stack_bytes = 192 << 10, most_threads = 1024;
struct Fiber {
  void* stack_pointer;
  char* stack;
  bool done;
};
static Fiber fibers[most_threads];
static void* scheduler_stack;
static int current, live;
static int block_arrived, block_generation;
static int warp_live[32], warp_arrived[32], warp_generation[32];
static unsigned char slots[32][32][64];
alignas(128) static unsigned char dynamic_shared[232448];
static void (*body)(void*);
static void* body_data;

// Saves the registers that calls preserve, changes stacks, restores.
extern "C" void emulated_switch(void** from, void* to);
asm(".text\nemulated_switch:\n push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n");

static void yield_thread() { emulated_switch(&fibers[current].stack_pointer, scheduler_stack); }

static void release_waiters(int warp) {
  if (warp_live[warp] > 0 && warp_arrived[warp] == warp_live[warp]) warp_arrived[warp] = 0, warp_generation[warp]++;
  if (live > 0 && block_arrived == live) block_arrived = 0, block_generation++;
}

static void enter_thread() {
  body(body_data);
  fibers[current].done = true;
  live--;
  warp_live[current / 32]--;
  release_waiters(current / 32);
  yield_thread();
}

static void warp_barrier() {
  int warp = current / 32, generation = warp_generation[warp];
  warp_arrived[warp]++;
  release_waiters(warp);
  while (warp_generation[warp] == generation) yield_thread();
}

static void block_barrier() {
  int generation = block_generation;
  block_arrived++;
  release_waiters(current / 32);
  while (block_generation == generation) yield_thread();
}

static void run_block(int threads) {
  live = threads;
  block_arrived = 0;
  memset(warp_live, 0, sizeof warp_live);
  memset(warp_arrived, 0, sizeof warp_arrived);
  for (int i = 0; i < threads; i++) {
    Fiber& f = fibers[i];
    if (!f.stack) f.stack = (char*)aligned_alloc(64, stack_bytes);
    uintptr_t* top = (uintptr_t*)(f.stack + stack_bytes) - 3; // leaves the stack as after a call
    *--top = (uintptr_t)enter_thread;
    for (int r = 0; r < 6; r++) *--top = 0;
    f.stack_pointer = top;
    f.done = false;
    warp_live[i / 32]++;
  }
  while (live > 0)
    for (int i = 0; i < threads; i++) {
      if (fibers[i].done) continue;
      current = i;
      threadIdx.x = i;
      emulated_switch(&scheduler_stack, fibers[i].stack_pointer);
    }
}

template <typename T>
static T exchange(T value, int from) {
  int warp = current / 32, lane = current % 32;
  memcpy(slots[warp][lane], &value, sizeof value);
  warp_barrier();
  T other;
  memcpy(&other, slots[warp][from], sizeof other);
  warp_barrier();
  return other;
}

template <typename... A, size_t... I>
static void call(void (*kernel)(A...), void** parameters, std::index_sequence<I...>) {
  kernel(*(std::remove_cv_t<A>*)parameters[I]...);
}
template <typename... A>
static void call(void (*kernel)(A...), void** parameters) {
  call(kernel, parameters, std::index_sequence_for<A...>());
}

}  // namespace emulated

static inline void __syncthreads() { emulated::block_barrier(); }
static inline float __shfl_xor_sync(unsigned, float x, int mask) { return emulated::exchange(x, emulated::current % 32 ^ mask); }
static inline float __uint_as_float(unsigned x) {
  float y;
  memcpy(&y, &x, 4);
  return y;
}
static inline unsigned __float_as_uint(float x) {
  unsigned y;
  memcpy(&y, &x, 4);
  return y;
}
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }

static inline void copy_async(void* to, const void* from, bool valid) {
  if ((uintptr_t)to % 16 || (valid && (uintptr_t)from % 16)) abort();
  if (valid) memcpy(to, from, 16);
  else memset(to, 0, 16);
}
static inline void copy_commit() {}
template <int PENDING>
static inline void copy_wait() {}
static inline float power_of_two(float x) { return exp2f(x); }

// Lane i holds, of matrix j, row i / 4 and columns 2 (i % 4), 2 (i % 4) + 1.
static inline void load_matrix(unsigned (&to)[4], const void* row) {
  if ((uintptr_t)row % 16) abort();
  int lane = emulated::current % 32;
  for (int j = 0; j < 4; j++) {
    const unsigned char* at = (const unsigned char*)emulated::exchange(row, j * 8 + lane / 4);
    memcpy(&to[j], at + lane % 4 * 4, 4);
  }
}
static inline void load_matrix_transposed(unsigned (&to)[4], const void* row) {
  if ((uintptr_t)row % 16) abort();
  int lane = emulated::current % 32;
  for (int j = 0; j < 4; j++) {
    unsigned halves[2];
    for (int h = 0; h < 2; h++) {
      uint16_t element = 0;
      const unsigned char* at = (const unsigned char*)emulated::exchange(row, j * 8 + lane % 4 * 2 + h);
      memcpy(&element, at + lane / 4 * 2, 2);
      halves[h] = element;
    }
    // Every lane asked for the row that it needs: the exchange above reads per lane.
    to[j] = halves[0] | halves[1] << 16;
  }
}

struct TileOperands {
  unsigned a[4], b[2];
};

static inline float bf16_value(unsigned word, int half) { return __uint_as_float(half ? word & 0xffff0000u : word << 16); }

// a: rows lane / 4 (+ 8 in registers 1 and 3), k = 2 (lane % 4) + half (+ 8 in registers 2 and 3). b: k likewise (+ 8 in register 1),
// column lane / 4. c: rows lane / 4 (+ 8 in registers 2 and 3), columns 2 (lane % 4) + register % 2.
static inline void multiply_tiles(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  int warp = emulated::current / 32, lane = emulated::current % 32;
  TileOperands mine = {{a[0], a[1], a[2], a[3]}, {b0, b1}};
  memcpy(emulated::slots[warp][lane], &mine, sizeof mine);
  emulated::warp_barrier();
  const TileOperands* all[32];
  for (int i = 0; i < 32; i++) all[i] = (const TileOperands*)emulated::slots[warp][i];
  for (int r = 0; r < 4; r++) {
    int row = lane / 4, column = lane % 4 * 2 + r % 2;
    double sum = 0;
    for (int k = 0; k < 16; k++) {
      const TileOperands* left = all[row * 4 + k % 8 / 2];
      const TileOperands* right = all[column * 4 + k % 8 / 2];
      sum += (double)bf16_value(left->a[r / 2 + k / 8 * 2], k % 2) * bf16_value(right->b[k / 8], k % 2);
    }
    c[r] += (float)sum;
  }
  emulated::warp_barrier();
}
