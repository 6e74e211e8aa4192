// The native room's door.
export { isFfiAvailable } from './ffi.js';
export {
  type ArgumentType,
  type NativeFunction,
  type NativeLibrary,
  type OpenOptions,
  openLibrary,
  openProcess,
  type Pointer,
  type ResultType,
  type Wide,
} from './library.js';
export { type MappedFile, mapFile } from './mapped-file.js';
export { addressOf, viewAddress } from './memory.js';
export { describeErrno, NativeError } from './native-error.js';
export { setParentDeathSignal } from './process-signals.js';
