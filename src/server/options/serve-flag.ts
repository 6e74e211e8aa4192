// What a flag of `orrery serve` is. Flags, environment variables, keys of the config file and their documentation come from one table.

/** What kind of value a flag takes; a switch takes none. */
export type FlagKind = 'switch' | 'text' | 'integer' | 'number' | 'json';

/**
 * What a flag does.
 * `works`: it is obeyed. `gpu`: it is obeyed on a GPU; on the CPU the server does not start with it, but for the values named. `noted`: it asks for what is always so, and a line says that. `only`: it is taken with the values
 * that change nothing. `refused`: the server does not start with it.
 */
export type FlagEffect =
  | { readonly effect: 'works' }
  | { readonly effect: 'gpu'; readonly why: string; readonly values: readonly string[] }
  | { readonly effect: 'noted'; readonly why: string }
  | { readonly effect: 'only'; readonly values: readonly string[]; readonly why: string }
  | { readonly effect: 'refused'; readonly why: string };

export type FlagGroup = 'Server' | 'Model' | 'Requests' | 'Safety' | 'Jobs' | 'Operation' | 'Parallelism' | 'Device';

export interface ServeFlag {
  /** Without the dashes, as `served-model-name`; also the key of the config file. */
  readonly name: string;
  readonly group: FlagGroup;
  readonly kind: FlagKind;
  /** What the help calls the value. */
  readonly value?: string;
  /** The only values that a text may have. */
  readonly choices?: readonly string[];
  /** May be given several times, or as a list in the config file. */
  readonly several?: true;
  readonly aliases?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Where it is not given. */
  readonly fallback?: string | number;
  readonly about: string;
  readonly does: FlagEffect;
}

export const works: FlagEffect = { effect: 'works' };

/** A flag that GPUs alone obey. @param values what the CPU takes too, since it changes nothing there */
export const onGpu = (why: string, values: readonly string[] = []): FlagEffect => ({ effect: 'gpu', why, values });

/** Whether a flag does something, on some device. */
export const isObeyed = ({ does }: ServeFlag): boolean => does.effect === 'works' || does.effect === 'gpu';

/** A flag that is taken but asks for what is so anyway. */
export const noted = (why: string): FlagEffect => ({ effect: 'noted', why });

/** A flag that is taken only with values that change nothing. */
export const only = (values: readonly string[], why: string): FlagEffect => ({ effect: 'only', values, why });

/** A flag that keeps the server from starting. */
export const refused = (why: string): FlagEffect => ({ effect: 'refused', why });
