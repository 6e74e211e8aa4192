// Loads OpenCV (WebAssembly) on first use and gives the few operations the control maps need, matrices deleted after use.
import { createRequire } from 'node:module';
import type { RgbImage } from '../types.js';

/** OpenCV operations on pictures in host memory. */
export interface Vision {
  /** Canny edges of the RGB picture (aperture 3, L1 norm): 0 or 255 per pixel. Gives [height, width]. */
  canny(image: RgbImage, low: number, high: number): Uint8Array;
  /** Edge-keeping blur over a neighbourhood of `diameter` pixels (odd). */
  bilateral(image: RgbImage, diameter: number, sigmaColor: number, sigmaSpace: number): RgbImage;
  resize(image: RgbImage, width: number, height: number, method: 'area' | 'linear'): RgbImage;
}

/** Loads the library (a few hundred milliseconds, once a process: the module system keeps it). */
export async function loadVision(): Promise<Vision> {
  const { cv } = await loadOpenCv();
  return {
    canny: (image, low, high) =>
      withMats(cv, image, (source, result) => {
        cv.Canny(source, result, low, high);
        return result.data.slice();
      }),
    bilateral: (image, diameter, sigmaColor, sigmaSpace) =>
      withMats(cv, image, (source, result) => {
        cv.bilateralFilter(source, result, diameter, sigmaColor, sigmaSpace);
        return { width: image.width, height: image.height, data: result.data.slice() };
      }),
    resize: (image, width, height, method) =>
      withMats(cv, image, (source, result) => {
        const interpolation = method === 'area' ? cv.INTER_AREA : cv.INTER_LINEAR;
        cv.resize(source, result, { width, height }, 0, 0, interpolation);
        return { width, height, data: result.data.slice() };
      }),
  };
}

function withMats<T>(cv: OpenCv, image: RgbImage, work: (source: Mat, result: Mat) => T): T {
  const source = new cv.Mat(image.height, image.width, cv.CV_8UC3);
  const result = new cv.Mat();
  try {
    source.data.set(image.data);
    return work(source, result);
  } finally {
    source.delete();
    result.delete();
  }
}

interface Mat {
  /** A view of WebAssembly memory: copy before the next call. */
  readonly data: Uint8Array;
  delete(): void;
}

interface OpenCv {
  readonly Mat: new (rows?: number, columns?: number, type?: number) => Mat;
  readonly CV_8UC3: number;
  readonly INTER_AREA: number;
  readonly INTER_LINEAR: number;
  Canny(source: Mat, result: Mat, low: number, high: number): void;
  bilateralFilter(source: Mat, result: Mat, diameter: number, sigmaColor: number, sigmaSpace: number): void;
  resize(
    source: Mat,
    result: Mat,
    size: { readonly width: number; readonly height: number },
    scaleX: number,
    scaleY: number,
    interpolation: number,
  ): void;
}

// The library's object has a `then` that resolves to itself: awaiting it never ends, so it travels boxed.
async function loadOpenCv(): Promise<{ readonly cv: OpenCv }> {
  const library = requireQuietly();
  if (typeof library.Mat !== 'function') {
    await new Promise<void>((resolve) => {
      // Several callers may wait at once, each behind the one before.
      const earlier = library.onRuntimeInitialized;
      library.onRuntimeInitialized = () => {
        if (typeof earlier === 'function') earlier();
        resolve();
      };
    });
  }
  if (!isOpenCv(library))
    throw new Error('@techstark/opencv-js lacks Canny, bilateralFilter or resize; install 4.5.2.');
  return { cv: library };
}

/** Requires the library, taking off the process-wide handlers it installs, which would end the process on any error. */
function requireQuietly(): Record<string, unknown> {
  const exceptions = process.listeners('uncaughtException');
  const rejections = process.listeners('unhandledRejection');
  const library: unknown = createRequire(import.meta.url)('@techstark/opencv-js');
  for (const listener of process.listeners('uncaughtException')) {
    if (!exceptions.includes(listener)) process.off('uncaughtException', listener);
  }
  for (const listener of process.listeners('unhandledRejection')) {
    if (!rejections.includes(listener)) process.off('unhandledRejection', listener);
  }
  if (!isRecord(library)) throw new Error('@techstark/opencv-js exports no object; install 4.5.2.');
  return library;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isOpenCv(value: object): value is OpenCv {
  return ['Mat', 'Canny', 'bilateralFilter', 'resize'].every((name) => typeof Reflect.get(value, name) === 'function');
}
