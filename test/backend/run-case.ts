// Runs one op case on a device and measures it against the oracle: error, stray writes, inputs changed behind the back.
import type { Backend, HostTensor, Tensor, Weight } from '../../src/backend/index.js';
import type { OpCase, Operands, Run } from './cases/op-case.js';
import { nmse } from './limits.js';
import { fromFloats, toNumbers } from './oracle/number-formats.js';

/** A device under test and the window its test build opens into its memory. */
export interface ProbedDevice extends AsyncDisposable {
  readonly backend: Backend;
  /** One line per sentinel beside a tensor that was overwritten since the device was made. */
  strayWrites(): readonly string[];
}

export interface Outcome {
  /** Largest error of the outputs. */
  readonly error: number;
  /** Same shapes and dtypes as the oracle's (float outputs may be in the device's activation dtype). */
  readonly problems: readonly string[];
}

type Hosts = ReadonlyMap<string, HostTensor | readonly HostTensor[]>;

function isParts(value: HostTensor | readonly HostTensor[]): value is readonly HostTensor[] {
  return Array.isArray(value);
}

/** Inputs of a case; activations are rounded to the device's activation dtype, so that both sides start equal. */
export function hostInputs(item: OpCase, dtype: 'f32' | 'bf16'): Hosts {
  const hosts = new Map<string, HostTensor | readonly HostTensor[]>();
  for (const [name, input] of Object.entries(item.inputs)) {
    const seed = `${item.name} ${name}`;
    if (input.kind === 'weight') hosts.set(name, input.parts(seed));
    else {
      const host = input.host(seed);
      const rounded = { ...host, dtype, bytes: fromFloats(toNumbers(host.bytes, host.dtype), dtype) };
      hosts.set(name, input.activation && dtype !== 'f32' ? rounded : host);
    }
  }
  return hosts;
}

/** Puts the inputs on a device; a device that computes in float32 gets widened activations. */
export function place(
  b: Backend,
  item: OpCase,
  hosts: Hosts,
): Operands & { readonly tensors: ReadonlyMap<string, Tensor> } {
  const tensors = new Map<string, Tensor>();
  const weights = new Map<string, Weight>();
  for (const [name, value] of hosts) {
    const input = item.inputs[name];
    if (isParts(value)) {
      if (input?.kind !== 'weight') throw new Error(`case "${item.name}": ${name} is no weight`);
      weights.set(name, b.weight(value, input.use, input.format ? { format: input.format } : {}));
    } else if (input?.kind === 'tensor' && input.activation && value.dtype !== b.activationDtype) {
      const bytes = fromFloats(toNumbers(value.bytes, value.dtype), b.activationDtype);
      tensors.set(name, b.upload({ ...value, dtype: b.activationDtype, bytes }));
    } else tensors.set(name, b.upload(value));
  }
  const find = <T>(map: ReadonlyMap<string, T>, name: string): T => {
    const found = map.get(name);
    if (found === undefined) throw new Error(`case "${item.name}" has no input ${name}`);
    return found;
  };
  return { tensors, t: (name) => find(tensors, name), w: (name) => find(weights, name) };
}

/** Runs on a device and downloads the outputs. */
export async function outputsOf(b: Backend, item: OpCase, run: Run, hosts: Hosts): Promise<readonly HostTensor[]> {
  const operands = place(b, item, hosts);
  const outputs = run(b, operands);
  return Promise.all(outputs.map((output) => b.download(output)));
}

/** Runs a case, or its composite, on the device; `wanted` are the oracle's outputs. */
export async function compare(
  device: ProbedDevice,
  item: OpCase,
  run: Run,
  wanted: readonly HostTensor[],
): Promise<Outcome> {
  const b = device.backend;
  const hosts = hostInputs(item, b.activationDtype);
  const operands = place(b, item, hosts);
  const before = await snapshot(b, item, operands.tensors);
  const got = await Promise.all(run(b, operands).map((output) => b.download(output)));
  const problems = [...device.strayWrites()];
  for (const [name, bytes] of await snapshot(b, item, operands.tensors))
    if (Buffer.compare(bytes, before.get(name) ?? bytes) !== 0) problems.push(`input ${name} was changed`);
  if (got.length !== wanted.length) problems.push(`${got.length} outputs, expected ${wanted.length}`);
  const errors = wanted.map((host, i) => {
    const other = got[i];
    if (!other || other.shape.join() !== host.shape.join()) {
      problems.push(`output ${i} is [${other?.shape.join(', ')}], expected [${host.shape.join(', ')}]`);
      return Number.POSITIVE_INFINITY;
    }
    const narrowed = host.dtype === 'f32' && other.dtype === b.activationDtype;
    if (other.dtype !== host.dtype && !narrowed) problems.push(`output ${i} is ${other.dtype}, expected ${host.dtype}`);
    return nmse(toNumbers(other.bytes, other.dtype), toNumbers(host.bytes, host.dtype));
  });
  return { error: Math.max(0, ...errors), problems };
}

async function snapshot(
  b: Backend,
  item: OpCase,
  tensors: ReadonlyMap<string, Tensor>,
): Promise<Map<string, Uint8Array>> {
  const bytes = new Map<string, Uint8Array>();
  for (const [name, tensor] of tensors)
    if (!item.written?.includes(name)) bytes.set(name, (await b.download(tensor)).bytes);
  return bytes;
}
