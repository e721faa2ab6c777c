import { type EngramError, engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { baseName, type Input } from './input-source.ts';

/** An input that was not stored, while the others of its request were. */
export interface RefusedInput {
  /** Position among the inputs of the request: uploads first, then strings. */
  readonly index: number;
  /** File name or address; null for a text. */
  readonly name: string | null;
  readonly error: EngramError;
}

/** Statuses that an error of one input has: unreadable, of an unknown type, too large, at an address that is refused. */
const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 403, 413, 415, 422]);

/** The result of `work`, or why the input is refused. Every other error is thrown. */
export async function orRefusal<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly refusal: EngramError }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (isEngramError(error) && REFUSAL_STATUSES.has(error.status)) return { refusal: error };
    throw error;
  }
}

/** Without what an address may carry of secrets. */
export function inputName(input: Input | undefined): string | null {
  if (input?.kind === 'upload') return baseName(input.file.fileName);
  if (input?.kind === 'document') return baseName(input.fileName);
  const url = URL.parse(input?.value ?? '');
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? `${url.origin}${url.pathname}` : null;
}

const MAX_NAMED = 20;

/** The error of a request of which no input could be stored: 415 when one of them could not be read. */
export function nothingStored(refused: readonly RefusedInput[]): EngramError {
  const errors = refused.map(({ error }) => error);
  const [first] = errors;
  const chosen = errors.find(({ status }) => status === 415) ?? first;
  if (chosen === undefined || errors.length === 1) return chosen ?? engramError('IngestionError', 'Nothing was given.');
  const named = errors.slice(0, MAX_NAMED).map(({ message }) => message);
  const more = errors.length > MAX_NAMED ? [`and ${errors.length - MAX_NAMED} more`] : [];
  return engramError(chosen.wireName as 'IngestionError', [...named, ...more].join('; '), { cause: chosen });
}

/** How answers name what was refused; no field when there is nothing. */
export function refusedField(refused: readonly RefusedInput[]): JsonObject {
  if (refused.length === 0) return {};
  return {
    refused: refused.map(({ index, name, error }) => ({
      index,
      name,
      error_class: error.wireName,
      message: error.message,
    })),
  };
}
