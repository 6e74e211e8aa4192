import { describe, expect, it } from 'vitest';
import { type FocusedControl, isFreeKey } from './free-key.js';

const on = (change: Partial<FocusedControl>): FocusedControl => ({
  tag: 'BODY',
  type: '',
  role: '',
  isEditable: false,
  ...change,
});

describe('isFreeKey', () => {
  it('leaves text fields all keys', () => {
    expect(isFreeKey('l', on({ tag: 'INPUT', type: 'text' }))).toBe(false);
    expect(isFreeKey(' ', on({ tag: 'TEXTAREA' }))).toBe(false);
    expect(isFreeKey('ArrowLeft', on({ tag: 'SELECT' }))).toBe(false);
    expect(isFreeKey('m', on({ tag: 'DIV', isEditable: true }))).toBe(false);
  });

  it('leaves each control what it uses, and takes the rest', () => {
    expect(isFreeKey('ArrowLeft', on({ tag: 'INPUT', type: 'range' }))).toBe(false);
    expect(isFreeKey(' ', on({ tag: 'INPUT', type: 'range' }))).toBe(true);
    expect(isFreeKey(' ', on({ tag: 'BUTTON' }))).toBe(false);
    expect(isFreeKey('ArrowLeft', on({ tag: 'BUTTON' }))).toBe(true);
    expect(isFreeKey('ArrowLeft', on({ tag: 'BUTTON', role: 'tab' }))).toBe(false);
    expect(isFreeKey(' ', on({ tag: 'INPUT', type: 'checkbox' }))).toBe(false);
    expect(isFreeKey('ArrowDown', on({ tag: 'PRE' }))).toBe(false);
    expect(isFreeKey('ArrowRight', on({}))).toBe(true);
  });
});
