// Numbers, sizes, lengths of time and dates in the language of the page.
import { pageLanguage, t } from './t.js';

/** A number with at most `digits` decimals; what rounds to nothing has no sign. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString(pageLanguage(), { maximumFractionDigits: digits, signDisplay: 'negative' });
}

/** A length of time in two units at most, as `1 min 20 s`; tenths below ten seconds. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return t('unit.seconds', { value: formatNumber(seconds, 1) });
  const whole = Math.round(seconds);
  if (whole < 60) return t('unit.seconds', { value: formatNumber(whole) });
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
  if (minutes < 60) return joined('unit.minutes', minutes, rest === 0 ? '' : t('unit.seconds', { value: rest }));
  const [hours, restMinutes] = [Math.floor(minutes / 60), minutes % 60];
  return joined('unit.hours', hours, restMinutes === 0 ? '' : t('unit.minutes', { value: restMinutes }));
}

function joined(key: 'unit.minutes' | 'unit.hours', value: number, rest: string): string {
  return `${t(key, { value: formatNumber(value) })} ${rest}`.trim();
}

/** Bytes in the unit that keeps the number below 1024, with a decimal where it is small. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${formatNumber(value, value < 10 && power > 0 ? 1 : 0)} ${units[power] ?? 'B'}`;
}

/** Time of day of a moment, unix seconds. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString(pageLanguage(), { hour: '2-digit', minute: '2-digit' });
}

/** Day and time of a moment, unix seconds. */
export function formatDate(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString(pageLanguage(), { dateStyle: 'medium', timeStyle: 'short' });
}

/** A count of operations or tokens in the unit that keeps it short, as `4.2 T`. */
export function formatLarge(value: number): string {
  const units = ['', ' k', ' M', ' G', ' T', ' P', ' E'] as const;
  const power = Math.min(units.length - 1, value < 1000 ? 0 : Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** power;
  return `${formatNumber(scaled, scaled < 10 && power > 0 ? 1 : 0)}${units[power] ?? ''}`;
}
