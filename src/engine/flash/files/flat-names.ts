// Names of weights as people read them, and which naming a file has.

/** Whether a tensor's name is of the flat naming and not of the other. */
export function isFlatName(name: string): boolean {
  return /^(language_model|vae2llm|llm2vae)\./.test(name);
}

/**
 * Names as people read them, none left out: those that differ in one number alone become one, `layers.{0-3,5}.mlp`.
 */
export function foldNames(names: readonly string[]): string {
  const groups = new Map<string, number[]>();
  const template = /(?<=layers\.|^s)\d+(?=[./])/;
  for (const name of names) {
    const number = template.exec(name)?.[0];
    const key = number === undefined ? name : name.replace(template, '\0');
    const numbers = groups.get(key) ?? [];
    if (number !== undefined) numbers.push(Number(number));
    groups.set(key, numbers);
  }
  return [...groups].map(([key, numbers]) => key.replace('\0', () => foldNumbers(key, numbers))).join(', ');
}

function foldNumbers(key: string, numbers: readonly number[]): string {
  const show = (number: number) => (key.startsWith('s') ? String(number).padStart(2, '0') : String(number));
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const text = ranges.map(([from, to]) => (from === to ? show(from) : `${show(from)}-${show(to)}`)).join(',');
  return numbers.length === 1 ? text : `{${text}}`;
}
