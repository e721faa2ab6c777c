import { type ErrorName, engramError, isEngramError } from '../../../kernel/errors.ts';
import { DuplicateKeyError, VersionConflictError } from '../../ports/document-store.ts';
import { storeError } from './sqlite-errors.ts';
import type { EncodedError } from './write-protocol.ts';

/** Errors cross the thread border as data: a structured clone would keep neither class nor fields. */
export function encodeError(error: unknown, file: string): EncodedError {
  if (error instanceof DuplicateKeyError)
    return { kind: 'duplicate', collection: error.collection, index: error.index };
  if (error instanceof VersionConflictError) return { kind: 'conflict', collection: error.collection, id: error.id };
  const known = storeError(error, file) ?? error;
  if (isEngramError(known)) {
    return {
      kind: 'engram',
      name: known.wireName as ErrorName,
      message: known.message,
      retryable: known.retryable,
    };
  }
  return { kind: 'fault', message: known instanceof Error ? known.message : String(known) };
}

export function decodeError(error: EncodedError): Error {
  switch (error.kind) {
    case 'duplicate':
      return new DuplicateKeyError(error.collection, error.index);
    case 'conflict':
      return new VersionConflictError(error.collection, error.id);
    case 'engram':
      return engramError(error.name, error.message, { retryable: error.retryable });
    case 'fault':
      return new Error(error.message);
  }
}
