// How a parameter appears on the command line. The hint travels inside the schema, under a key that JSON Schema readers ignore.
import type { TSchema } from 'typebox';

/** Command-line form of a parameter. */
export interface Flag {
  /** Long name without the dashes. */
  readonly flag: string;
  /** Name of the value in the help text; absent for a switch. */
  readonly value?: string;
  /** The value may be left out, which means `true`. */
  readonly isValueOptional?: boolean;
}

/** Schema options that give a parameter a flag: `{ ...flag('num-frames', 'N'), description }`. */
export function flag(name: string, value?: string, isValueOptional = false): { readonly 'x-cli': Flag } {
  return {
    'x-cli': { flag: name, ...(value === undefined ? {} : { value }), ...(isValueOptional ? { isValueOptional } : {}) },
  };
}

/** The flag that a parameter's schema declares, if any. */
export function flagOf(schema: TSchema): Flag | undefined {
  return 'x-cli' in schema && isFlag(schema['x-cli']) ? schema['x-cli'] : undefined;
}

/** What a parameter does, as its schema says; empty where it says nothing. */
export function descriptionOf(schema: TSchema): string {
  return 'description' in schema && typeof schema.description === 'string' ? schema.description : '';
}

function isFlag(value: unknown): value is Flag {
  return typeof value === 'object' && value !== null && 'flag' in value && typeof value.flag === 'string';
}
