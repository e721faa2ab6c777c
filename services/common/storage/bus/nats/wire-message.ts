import { headers, type Msg, type MsgHdrs } from 'nats';
import { EngramError, engramError, isEngramError } from '../../../kernel/errors.ts';
import { withoutUndefined } from '../../../kernel/objects.ts';
import type { BusHeaders } from '../../ports/bus.ts';

/** Headers of our own; they never reach a handler. */
const OWN = 'engram-';
export const CALL = `${OWN}call`;
export const DEADLINE = `${OWN}deadline-ms`;
const PART = `${OWN}part`;
const ERROR = `${OWN}error`;

/** Room for the subject and headers of a message whose payload was cut to fit. */
const ENVELOPE_BYTES = 4096;
/** A larger part would be a burst for a server that many share. */
const MAX_PART_BYTES = 512 * 1024;
/** The server disconnects a client with 64 MiB of pending data. */
export const MAX_ANSWER_BYTES = 32 * 2 ** 20;

/** Values are percent-encoded: NATS headers are lines. */
export function toNatsHeaders(values: BusHeaders): MsgHdrs {
  const result = headers();
  for (const [name, value] of Object.entries(values)) result.set(name, encodeURIComponent(value.toWellFormed()));
  return result;
}

/** Headers of the caller, without the bus's own. */
export function fromNatsHeaders(received: MsgHdrs | undefined): BusHeaders {
  const values: Record<string, string> = {};
  for (const name of received?.keys() ?? []) if (!name.startsWith(OWN)) values[name] = ownHeader(received, name);
  return values;
}

export function ownHeader(received: MsgHdrs | undefined, name: string): string {
  const value = received?.get(name) ?? '';
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // a message of another sender
  }
}

export function requireFits(subject: string, payload: Uint8Array, maxMessageBytes: number): void {
  if (payload.length + ENVELOPE_BYTES <= maxMessageBytes) return;
  throw engramError(
    'PayloadTooLargeError',
    `The message to ${subject} has ${payload.length} bytes; the bus carries ${maxMessageBytes - ENVELOPE_BYTES}.`,
  );
}

export interface AnswerPart {
  readonly payload: Uint8Array;
  readonly headers: MsgHdrs;
}

/** An answer in as many messages as it needs. */
export function answerParts(payload: Uint8Array, maxMessageBytes: number): readonly AnswerPart[] {
  const size = Math.min(MAX_PART_BYTES, maxMessageBytes - ENVELOPE_BYTES);
  const count = Math.max(1, Math.ceil(payload.length / size));
  return Array.from({ length: count }, (_, index) => ({
    payload: payload.subarray(index * size, (index + 1) * size),
    headers: toNatsHeaders({ [PART]: `${index}/${count}` }),
  }));
}

/** Null until the last part has arrived; throws the error of an error answer, and when a part was lost. */
export type AnswerReader = ReturnType<typeof createAnswerReader>;

export function createAnswerReader(subject: string) {
  const parts: Uint8Array[] = [];
  return {
    take(message: Msg) {
      if (message.headers?.has(ERROR)) throw readError(message.data);
      const [index = 0, count = 1] = ownHeader(message.headers, PART).split('/').map(Number);
      if (index !== parts.length) {
        throw engramError('ServiceUnavailableError', `A part of the answer of ${subject} was lost`, {
          retryable: true,
        });
      }
      parts.push(message.data);
      if (parts.length < count) return null;
      return count === 1 ? message.data : Buffer.concat(parts);
    },
  };
}

interface WireError {
  readonly name: string;
  readonly message: string;
  /** Absent for errors that are none of the contract. */
  readonly status?: number;
  readonly retryable?: boolean;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number;
}

export function errorAnswer(error: unknown): AnswerPart {
  const payload = new TextEncoder().encode(JSON.stringify(wireError(error)));
  return { payload, headers: toNatsHeaders({ [ERROR]: 'true' }) };
}

function wireError(error: unknown): WireError {
  if (isEngramError(error)) {
    const { wireName: name, message, status, retryable, extra, retryAfterSeconds } = error;
    return {
      name,
      message,
      status,
      retryable,
      extra,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    };
  }
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };
}

function readError(payload: Uint8Array): Error {
  const { name, message, status, retryable, extra, retryAfterSeconds } = JSON.parse(
    new TextDecoder().decode(payload),
  ) as WireError;
  if (status === undefined) return Object.assign(new Error(message), { name });
  return new EngramError(name, status, message, {
    ...withoutUndefined({ retryable, extra, retryAfterSeconds }),
  });
}
