// Exit codes of the command line, as its help documents them.

/** 0 done · 1 failed · 2 the request or the flags are wrong · 130 stopped by Ctrl-C · 143 by SIGTERM. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130, terminated: 143 } as const;
