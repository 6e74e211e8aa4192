// Which files of a repository are wanted.

/** Folders that only understanding uses; fetched when an include pattern names them. */
const skippedFolders = ['vision_encoder'];

/**
 * A pattern as hub clients have them: `*` any characters, slashes too; `?` one; `[abc]`; a trailing slash takes the folder's files.
 */
export function compilePattern(pattern: string): RegExp {
  const whole = pattern.endsWith('/') ? `${pattern}*` : pattern;
  const source = whole.replace(
    /\[(!?)([^\]]+)\]|[\s\S]/g,
    (token, not: string | undefined, set: string | undefined) => {
      if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replace(/[\\^]/g, '\\$&')}]`;
      if (token === '*') return '[\\s\\S]*';
      if (token === '?') return '[\\s\\S]';
      return token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    },
  );
  return new RegExp(`^${source}$`);
}

/** Paths that match an include pattern (all, when there is none) and no exclude pattern. */
export function selectFiles<T extends { readonly path: string }>(
  files: readonly T[],
  include: readonly string[],
  exclude: readonly string[],
): T[] {
  const wanted = include.map(compilePattern);
  const unwanted = exclude.map(compilePattern);
  for (const folder of skippedFolders) {
    if (!include.some((pattern) => pattern.startsWith(folder))) unwanted.push(compilePattern(`${folder}/`));
  }
  return files.filter(
    ({ path }) =>
      (wanted.length === 0 || wanted.some((pattern) => pattern.test(path))) &&
      !unwanted.some((pattern) => pattern.test(path)),
  );
}
