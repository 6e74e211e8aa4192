import { describe, expect, it } from 'vitest';
import { changeVolume, commandOf, type KeyPress, nextSpeed } from './key-commands.js';

const press = (key: string, change: Partial<KeyPress> = {}): KeyPress => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  ...change,
});

describe('commandOf', () => {
  it('steps by one frame, with shift by ten', () => {
    expect(commandOf(press('ArrowLeft'))).toEqual({ kind: 'step', by: -1 });
    expect(commandOf(press('ArrowRight', { shiftKey: true }))).toEqual({ kind: 'step', by: 10 });
    expect(commandOf(press('.'))).toEqual({ kind: 'step', by: 1 });
  });

  it('leaves the browser its own keys', () => {
    expect(commandOf(press('ArrowLeft', { altKey: true }))).toBeNull();
    expect(commandOf(press('l', { ctrlKey: true }))).toBeNull();
    expect(commandOf(press('Tab'))).toBeNull();
    expect(commandOf(press('l'))).toEqual({ kind: 'loop' });
  });
});

describe('speed and volume', () => {
  it('move along the list and stop at its ends', () => {
    expect(nextSpeed(1, 1)).toBe(1.5);
    expect(nextSpeed(2, 1)).toBe(2);
    expect(nextSpeed(0.1, -1)).toBe(0.1);
    expect(nextSpeed(0.9, -1)).toBe(0.5);
  });

  it('stay between 0 and 1 without crumbs', () => {
    expect(changeVolume(0.7, 0.1)).toBe(0.8);
    expect(changeVolume(0.95, 0.1)).toBe(1);
    expect(changeVolume(0.05, -0.1)).toBe(0);
  });
});
