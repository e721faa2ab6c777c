import { engramError } from '../../kernel/errors.ts';
import { HttpError } from './http-error.ts';

/** Error: the client closed the connection before its request was complete. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** A body or an upload above the limit; `setting` is the variable that raises it, if one does. */
export function tooLarge(sizeBytes: number | null, limitBytes: number, setting: string | null): Error {
  const size = sizeBytes === null ? 'more than that' : `${sizeBytes} bytes`;
  const raisedBy = setting === null ? '' : ` (${setting})`;
  return engramError(
    'PayloadTooLargeError',
    `The request body is larger than the limit of ${limitBytes} bytes${raisedBy}; it has ${size}.`,
  );
}

export function tooSlow(): Error {
  return new HttpError(
    408,
    { detail: 'The request body did not arrive in time.' },
    { headers: { connection: 'close' } },
  );
}

export function malformedForm(reason: string, cause?: unknown): Error {
  return new HttpError(400, { detail: reason }, { cause });
}
