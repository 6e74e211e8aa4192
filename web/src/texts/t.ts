// Looks texts up by key in the language of the page, fills in values and picks the plural.
import { en, type TextEntry, type TextKey } from './en.js';

/** Values that texts name in braces. */
export type TextValues = Readonly<Record<string, string | number>>;

/** A translation: a file like en.ts; what it leaves out stays English. */
export type Texts = Readonly<Partial<Record<TextKey, TextEntry>>>;

/** Languages that the page speaks, by the tag that `<html lang>` has. A translation is a file like en.ts and a line here. */
export const languages: Readonly<Record<string, Texts>> = { en };

/** The text of a key; `count` among the values picks the plural. */
export function t(key: TextKey, values: TextValues = {}): string {
  return fill(find(key), values);
}

/** The text of a key that may not be there, as labels of fields that the server adds: undefined then. */
export function tMaybe(key: string): string | undefined {
  return isTextKey(key) ? t(key) : undefined;
}

/** The first of the wanted languages that the page speaks. */
export function pickLanguage(wanted: readonly string[]): string {
  const found = wanted.map((tag) => tag.split('-')[0] ?? '').find((tag) => Object.hasOwn(languages, tag));
  return found ?? 'en';
}

/** Language of the page; English where there is no page. */
export function pageLanguage(): string {
  return globalThis.document?.documentElement.lang || 'en';
}

function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(en, key);
}

function find(key: TextKey): TextEntry {
  return languages[pageLanguage()]?.[key] ?? en[key];
}

function fill(entry: TextEntry, values: TextValues): string {
  const text = typeof entry === 'string' ? entry : entry[pluralOf(Number(values.count ?? 0))];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

function pluralOf(count: number): 'one' | 'other' {
  return new Intl.PluralRules(pageLanguage()).select(count) === 'one' ? 'one' : 'other';
}
