// Frees tensors that outlive a scope.

function isDisposable(value: object): value is Disposable {
  return Symbol.dispose in value;
}

/**
 * Disposes of every tensor and weight in a value, however nested in arrays and plain objects. Tensors that share memory,
 * or appear twice, are no problem.
 */
export function disposeTensors(value: unknown): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (isDisposable(value)) value[Symbol.dispose]();
  else for (const inner of Object.values(value)) disposeTensors(inner);
}
