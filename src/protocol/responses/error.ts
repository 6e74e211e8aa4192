// The body of every error reply: one form for clients of the OpenAI interface, one for those that look for `detail`.
import Type, { type Static } from 'typebox';
import { textOrNull } from './nullable.js';

export const ErrorBody = Type.Object({
  error: Type.Object({
    message: Type.String(),
    type: Type.String({ description: 'Reason phrase of the status, as Bad Request.' }),
    param: textOrNull('Field at fault, where there is one.'),
    code: Type.Integer({ description: 'HTTP status.' }),
    reason: Type.String({
      description: 'Coded error, as invalid_value; the statuses of all are in the documentation.',
    }),
    request_id: textOrNull('Names the request in the logs.'),
  }),
  detail: Type.String({ description: 'The message again.' }),
});
export type ErrorBody = Static<typeof ErrorBody>;
