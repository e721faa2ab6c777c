import type { QaEntry, SessionKey } from '../../domain/session.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Scope } from '../../kernel/scope.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import { type DocumentStore, replace, type Stored } from '../../storage/ports/document-store.ts';
import { votesOfAnswersWrite } from '../improve/element-weights.ts';
import {
  changedDocument,
  sessionEntriesCollection as collection,
  type EntryDocument,
  entryOf,
  forgottenDocument,
  isQaOf,
  labelOf,
} from './session-entry-documents.ts';
import type { Sessions } from './sessions.ts';

export interface QaFeedback {
  readonly text: string | null;
  /** 1 to 5. */
  readonly score: number | null;
  readonly at: string;
}

/** Findings of improve about an answer, added to its metadata. */
export interface QaNote {
  readonly id: string;
  readonly memifyMetadata: JsonObject;
  /** Noted only while this is the answer's last feedback: newer feedback is processed again. */
  readonly ofFeedback: number | null;
}

export type QaChanges = ReturnType<typeof createQaChanges>;

/** Changes of existing answers; each is repeated when another process changes them meanwhile. */
export function createQaChanges(store: DocumentStore, sessions: Sessions) {
  const storedQas = async (scope: Scope, key: SessionKey, ids: readonly string[]) =>
    (await store.getMany(scope, collection, ids)).filter((stored) => isQaOf(stored, key));
  return {
    /** Feedback on an answer; what is null stays as it was. Null for an unknown answer. */
    giveFeedback: (scope: Scope, key: SessionKey, id: string, { text, score, at }: QaFeedback) =>
      retryOnConflict(async () => {
        const [session, [found]] = await Promise.all([sessions.get(scope, key), storedQas(scope, key, [id])]);
        if (session === null || found === undefined) return null;
        const entry = entryOf<QaEntry>(found);
        const changed = {
          ...entry,
          feedbackText: text ?? entry.feedbackText,
          feedbackScore: score ?? entry.feedbackScore,
          memifyMetadata: { ...entry.memifyMetadata, feedback_weights_applied: false },
          feedbackNumber: session.feedbackCount + 1,
        };
        await store.commit(scope, [
          sessions.growWrite(session, 'feedbackCount', { lastActivityAt: at }),
          replace(collection, id, changedDocument(found, changed), found.version),
        ]);
        return changed;
      }),
    /** In one commit. Returns how many were noted: removed and outdated answers are not. */
    note: (scope: Scope, key: SessionKey, notes: readonly QaNote[]) =>
      retryOnConflict(async () => {
        const ids = notes.map(({ id }) => id);
        const changed = (await storedQas(scope, key, ids)).flatMap((stored) => notedDocument(stored, notes));
        if (changed.length === 0) return 0;
        await store.commit(
          scope,
          changed.map(({ id, document, version }) => replace(collection, id, document, version)),
        );
        return changed.length;
      }),
    /** Answers lose what they say, what they were made from and what their ratings moved; they keep their numbers. How many. */
    forget: (scope: Scope, key: SessionKey, ids: readonly string[]) =>
      retryOnConflict(async () => {
        const stored = await storedQas(scope, key, ids);
        if (stored.length === 0) return 0;
        const labels = stored.map(({ value }) => labelOf(String(value.entry['question'] ?? '')));
        const session = await sessions.get(scope, key);
        const isLabelled = session !== null && labels.includes(session.label);
        await store.commit(scope, [
          ...stored.map((one) => replace(collection, one.id, forgottenDocument(one), one.version)),
          ...(isLabelled ? [sessions.unlabelWrite(session)] : []),
          votesOfAnswersWrite(stored.map(({ id }) => id)),
        ]);
        return stored.length;
      }),
  };
}

function notedDocument(stored: Stored<EntryDocument>, notes: readonly QaNote[]) {
  const own = notes.filter(
    ({ id, ofFeedback }) => id === stored.id && (ofFeedback === null || ofFeedback === stored.value.feedbackNumber),
  );
  if (own.length === 0) return [];
  const entry = entryOf<QaEntry>(stored);
  const memifyMetadata = Object.assign(
    {},
    entry.memifyMetadata,
    ...own.map((note) => note.memifyMetadata),
  ) as JsonObject;
  const document = changedDocument(stored, { ...entry, memifyMetadata });
  return [{ id: stored.id, version: stored.version, document }];
}
