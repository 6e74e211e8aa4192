// A list of words and phrases: exact, and found where they are disguised or misspelled.
import { readFileSync } from 'node:fs';
import { type PromptChecker, safe, type Verdict } from './checker.js';
import { meantWords, plainWords, stemsOf } from './normalise-text.js';
import { bundledLists, harmlessWords } from './word-lists.js';

/** Entries of one list. `~` in front of a word: also found with one letter wrong. */
export interface WordList {
  readonly category: string;
  readonly entries: readonly string[];
}

/** The lists that come with the package. */
export function bundledBlocklists(): readonly WordList[] {
  return Object.entries(bundledLists).map(([category, entries]) => ({ category, entries }));
}

/**
 * Reads a list: an entry a line, `#` begins a comment, `[name]` a category.
 * @throws Error naming the file when it cannot be read or holds nothing
 */
export function readBlocklist(path: string): readonly WordList[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the blocklist ${path} cannot be read: ${why}`);
  }
  const lists = new Map<string, string[]>();
  let category = 'own list';
  for (const line of text.split(/\r?\n/).map((raw) => raw.replace(/#.*$/, '').trim())) {
    const [, name] = /^\[(.+)\]$/.exec(line) ?? [];
    if (name !== undefined) category = name.trim();
    else if (line !== '') lists.set(category, [...(lists.get(category) ?? []), line]);
  }
  if (lists.size === 0) throw new Error(`the blocklist ${path} has no entries; write one word or phrase on a line`);
  return [...lists].map(([name, entries]) => ({ category: name, entries }));
}

/** Shortest word that is looked for with a letter wrong: shorter ones are too near to harmless words. */
const shortestFuzzy = 7;

/** Refuses prompts that hold an entry. An empty prompt is refused as well, where `refusesEmpty`. */
export class Blocklist implements PromptChecker {
  readonly name = 'blocklist';
  readonly isModel = false;
  /** Word or first word of a phrase -> the words that must follow, and the category. */
  readonly #entries = new Map<string, { readonly rest: readonly string[]; readonly category: string }[]>();
  readonly #fuzzy: { readonly word: string; readonly category: string }[] = [];

  constructor(lists: readonly WordList[]) {
    for (const { category, entries } of lists) {
      for (const entry of entries) this.#add(entry, category);
    }
  }

  async checkPrompt(prompt: string): Promise<Verdict> {
    const category = this.#find(plainWords(prompt)) ?? this.#find(meantWords(prompt));
    return category === undefined ? safe : { isSafe: false, category };
  }

  #add(entry: string, category: string): void {
    const isFuzzy = entry.startsWith('~');
    const [first, ...rest] = plainWords(entry.replace(/^~/, ''));
    if (first === undefined) return;
    this.#entries.set(first, [...(this.#entries.get(first) ?? []), { rest, category }]);
    if (isFuzzy && rest.length === 0 && first.length >= shortestFuzzy) this.#fuzzy.push({ word: first, category });
  }

  #find(words: readonly string[]): string | undefined {
    for (const [i, word] of words.entries()) {
      const exact = this.#findAt(words, i) ?? this.#findMisspelled(word);
      if (exact !== undefined) return exact;
    }
    return undefined;
  }

  #findAt(words: readonly string[], at: number): string | undefined {
    for (const stem of stemsOf(words[at] ?? '')) {
      for (const { rest, category } of this.#entries.get(stem) ?? []) {
        if (rest.every((word, i) => stemsOf(words[at + 1 + i] ?? '').includes(word))) return category;
      }
    }
    return undefined;
  }

  #findMisspelled(word: string): string | undefined {
    if (word.length < shortestFuzzy - 1 || harmlessWords.has(word)) return undefined;
    return this.#fuzzy.find((entry) => isOneEditAway(word, entry.word))?.category;
  }
}

/** Whether two words differ by one letter changed, left out, added or swapped with its neighbour. The first letter must agree. */
export function isOneEditAway(a: string, b: string): boolean {
  if (a[0] !== b[0] || Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  const restA = a.slice(from);
  const restB = b.slice(from);
  if (restA === '' && restB === '') return true;
  return (
    restA.slice(1) === restB.slice(1) ||
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    (restA.length > 1 && restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2))
  );
}
