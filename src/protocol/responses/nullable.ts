// Short words for schemas of replies: values that may be null, lists, switches.
import Type, { type TSchema } from 'typebox';

/** The schema, or null. */
export function valueOrNull<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Text, or null. */
export function textOrNull(description: string) {
  return valueOrNull(Type.String(), description);
}

/** A number, or null. */
export function numberOrNull(description: string) {
  return valueOrNull(Type.Number(), description);
}

/** A list of one kind of thing. */
export function list<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Array(schema, { description });
}

/** True or false. */
export function flagSwitch(description: string) {
  return Type.Boolean({ description });
}
