// Brings words that were disguised back to plain letters, so that a list of words finds them.

/** Letters of other scripts and signs that stand in for Latin letters. */
const lookAlikes: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  с: 'c',
  е: 'e',
  н: 'h',
  і: 'i',
  ї: 'i',
  ј: 'j',
  к: 'k',
  м: 'm',
  о: 'o',
  р: 'p',
  ѕ: 's',
  т: 't',
  у: 'y',
  х: 'x',
  α: 'a',
  β: 'b',
  ε: 'e',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
};

/** Signs and digits that stand in for letters inside a word. */
const signs: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
  '€': 'e',
  '+': 't',
};

/** Lower case without accents, invisible characters and look-alikes of other scripts. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\u115f\u1160\u3164]/gu, '')
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => lookAlikes[letter] ?? letter);
}

/** Words as they stand. */
export function plainWords(text: string): readonly string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/**
 * Words as they are meant: signs read as letters (`p0rn`), letters set apart joined (`p o r n`, `p.o.r.n`), letters drawn
 * out cut to one (`poooorn`).
 */
export function meantWords(text: string): readonly string[] {
  const pieces = foldText(text)
    .split(/\s+/)
    .map((piece) => piece.replace(/^[^\p{L}\p{N}@$]+|[^\p{L}\p{N}@$]+$/gu, ''))
    .filter((piece) => piece !== '');
  const words = joinLetters(pieces).flatMap(readDisguised);
  return words.map(shortenRuns);
}

/** Runs of three or more single letters become one word. */
function joinLetters(pieces: readonly string[]): readonly string[] {
  const joined: string[] = [];
  let letters: string[] = [];
  const flush = () => {
    if (letters.length >= 3) joined.push(letters.join(''));
    else joined.push(...letters);
    letters = [];
  };
  for (const piece of pieces) {
    if ([...piece].length === 1) letters.push(piece);
    else {
      flush();
      joined.push(piece);
    }
  }
  flush();
  return joined;
}

function readDisguised(piece: string): readonly string[] {
  // Letters set apart by signs: p.o.r.n, p-o-r-n, p_o_r_n.
  if (/^\p{L}([^\p{L}\p{N}]\p{L}){2,}$/u.test(piece)) return [piece.replace(/[^\p{L}]/gu, '')];
  if (/^\p{N}+$/u.test(piece)) return [];
  const spelled = /\p{L}/u.test(piece) ? piece.replace(/[0134578@$!|€+]/g, (sign) => signs[sign] ?? sign) : piece;
  return spelled.match(/\p{L}+/gu) ?? [];
}

function shortenRuns(word: string): string {
  return word.replace(/(\p{L})\1{2,}/gu, '$1');
}

/** Forms that a word may be of: itself, and itself without the endings of English. */
export function stemsOf(word: string): readonly string[] {
  const stems = [word];
  for (const ending of ["'s", 's', 'es', 'ed', 'd', 'ing', 'er', 'ers', 'y']) {
    if (word.length - ending.length >= 4 && word.endsWith(ending)) {
      const stem = word.slice(0, -ending.length);
      stems.push(stem, `${stem}e`);
      // stabbing -> stab
      if (/(.)\1$/.test(stem)) stems.push(stem.slice(0, -1));
    }
  }
  return stems;
}
