import { type NewQa, type QaEntry, type SessionKey, sessionDocumentId } from '../../domain/session.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

export type EntryKind = 'qa' | 'trace';

export type EntryDocument = {
  /** Id of the session's document. */
  readonly session: string;
  readonly kind: EntryKind;
  readonly number: number;
  readonly time: string;
  /** Number of an answer's feedback; null: none. */
  readonly feedbackNumber: number | null;
  readonly entry: JsonObject;
};

export const sessionEntriesCollection: OwnedCollection<EntryDocument> = {
  name: 'session_entries',
  level: 'tenant',
  owner: 'ingest',
  writers: {
    auth: 'removes the sessions of a deleted user',
    improve: 'notes on an answer what was made of its feedback',
  },
  readers: ['search'],
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['session', 'kind', 'number'], unique: true }, { fields: ['session', 'feedbackNumber'] }],
};

export function entryOf<Entry>({ id, value }: Stored<EntryDocument>): Entry {
  const { number, time, feedbackNumber, kind } = value;
  return { ...value.entry, id, number, time, ...(kind === 'qa' ? { feedbackNumber } : {}) } as Entry;
}

export function isQaOf({ value }: Stored<EntryDocument>, key: SessionKey): boolean {
  return value.kind === 'qa' && value.session === sessionDocumentId(key);
}

/** The answer as it is to be stored in place of the one before. */
export function changedDocument({ value }: Stored<EntryDocument>, changed: QaEntry): EntryDocument {
  const { id: _, number: __, time: ___, feedbackNumber, ...entry } = changed;
  return { ...value, feedbackNumber, entry: toJson(entry) };
}

/** The answer without its text and its sources. */
export function forgottenDocument({ value }: Stored<EntryDocument>): EntryDocument {
  const nothing: NewQa & Pick<QaEntry, 'memifyMetadata'> = {
    question: '',
    context: '',
    answer: '',
    feedbackText: null,
    feedbackScore: null,
    usedGraphElements: null,
    usedContextIds: null,
    memifyMetadata: null,
  };
  return { ...value, feedbackNumber: null, entry: toJson(nothing) };
}

const MAX_LABEL_LENGTH = 120;

/** Label of a session from its first question; null when the question is blank. */
export function labelOf(question: string): string | null {
  const start = question.trimStart().slice(0, 2 * MAX_LABEL_LENGTH);
  return start === '' ? null : [...start].slice(0, MAX_LABEL_LENGTH).join('').trimEnd();
}

/** Interfaces of entries are made of JSON values only. */
export function toJson(entry: object): JsonObject {
  return entry as JsonObject;
}
