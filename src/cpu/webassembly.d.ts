// The part of the WebAssembly API that the kernels need: the types of Node leave it to the browser's library.
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum: number; readonly shared: true });
    readonly buffer: SharedArrayBuffer;
    /** Adds pages of 64 KiB. Throws a RangeError when the system gives none. */
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance<Exports> {
    constructor(module: Module, imports: { readonly env: { readonly memory: Memory } });
    readonly exports: Exports;
  }
}
