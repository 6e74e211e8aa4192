// Log lines as JSON, one object each, to standard error. Keys and prompts do not get into them.
import { destination, type Logger as PinoLogger, pino } from 'pino';
import type { LogLevel } from '../options/settings.js';

export type Logger = PinoLogger;

/** Where log lines go, if not to standard error. */
export interface LogTarget {
  write(line: string): void;
}

/** Opens the log. */
export function openLog(level: LogLevel, target?: LogTarget): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (name) => ({ level: name }) },
      redact: {
        paths: ['req.headers.authorization', 'headers.authorization', 'authorization', 'apiKey', 'key', '*.apiKey'],
        censor: '(hidden)',
      },
    },
    target ?? destination({ dest: 2, sync: true }),
  );
}
