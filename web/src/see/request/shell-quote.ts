// Words of a POSIX shell.

/** A word that the shell hands over unchanged. Single quotes hold everything but themselves. */
export function quoteWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text) && !/^[=~]/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Parts of a command on lines of their own, joined by backslashes. */
export function commandOf(parts: readonly string[]): string {
  return parts.join(' \\\n  ');
}
