// Memory of this thread's own that kernels work in: 128 bytes for a block of a product, then 2 KiB for exponentials.

let address: usize = 0;

/** Gives the kernels 2176 bytes. */
export function setWork(at: usize): void {
  address = at;
}

/** For blocks that hang over the right edge of a product. */
export function edge(): usize {
  return address;
}

/** 512 floats. */
export function buffer(): usize {
  return address + 128;
}
