import { describe, expect, it } from 'vitest';
import { ownTensor, TensorScopes } from './device-tensor.js';
import { ShapeError } from './errors.js';

/** A memory that hands out addresses 1000, 2000, … and knows which are out. */
function open() {
  const live = new Map<number, number>();
  let next = 0;
  const memory = {
    allocate(bytes: number) {
      next += 1000;
      live.set(next, bytes);
      return next;
    },
    free: (address: number) => void live.delete(address),
  };
  return { scopes: new TensorScopes('cpu', memory), live };
}

describe('tensors', () => {
  it('share their block with views, which keep it', () => {
    const { scopes, live } = open();
    const x = scopes.make([4, 3], 'bf16');
    const rows = x.alias([2, 3], 6);
    expect([x.address, rows.address, rows.byteLength]).toEqual([1000, 1012, 12]);
    expect(live).toEqual(new Map([[1000, 24]]));
    x[Symbol.dispose]();
    x[Symbol.dispose]();
    expect(live.size).toBe(1);
    expect(() => x.address).toThrow('bf16 [4, 3] used after its scope ended');
    rows[Symbol.dispose]();
    expect(live.size).toBe(0);
  });

  it('of another device are refused', () => {
    const { scopes } = open();
    const x = scopes.make([1], 'f32');
    expect(ownTensor('cpu', x)).toBe(x);
    expect(() => ownTensor('cuda', x)).toThrow(ShapeError);
    expect(() => ownTensor('cpu', { shape: [1], dtype: 'f32', [Symbol.dispose]() {} })).toThrow(ShapeError);
  });

  it('on borrowed memory leave it alone', () => {
    const { scopes, live } = open();
    scopes.make([1], 'f32');
    scopes.borrow(1000, [1], 'f32')[Symbol.dispose]();
    expect(live.size).toBe(1);
  });
});

describe('scopes', () => {
  it('free what was made in them, and hand what is returned to the scope around', () => {
    const { scopes, live } = open();
    scopes.run(() => {
      const kept = scopes.run(() => {
        scopes.make([1], 'f32');
        return { list: [scopes.make([2], 'f32')] };
      });
      expect([...live.values()]).toEqual([8]);
      return kept.list.length === 0 ? kept : null;
    });
    expect(live.size).toBe(0);
  });

  it('free everything when the body fails', () => {
    const { scopes, live } = open();
    const body = () => {
      scopes.make([1], 'f32');
      throw new Error('no');
    };
    expect(() => scopes.run(body)).toThrow('no');
    expect(live.size).toBe(0);
    // The scope is over: what is made now is its maker's.
    scopes.make([1], 'f32');
    expect(live.size).toBe(1);
  });

  it('make tensors in another memory for a while', () => {
    const [a, b] = [open(), open()];
    const arena = { allocate: () => 7, free: () => {} };
    expect(a.scopes.within(arena, () => a.scopes.make([1], 'f32').address)).toBe(7);
    expect(a.scopes.make([1], 'f32').address).toBe(1000);
    expect(b.live.size).toBe(0);
  });
});
