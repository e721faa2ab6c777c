import { type SessionStart, sessionDocumentId } from '../../domain/session.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { put } from '../base/repository.ts';

type DistillationDocument = {
  readonly userId: string;
  /** Start of the session: a session that was deleted and opened again starts from zero. */
  readonly startedAt: string;
  readonly turns: number;
  readonly feedback: number;
  readonly rows: readonly string[];
};

export const distillationsCollection: OwnedCollection<DistillationDocument> = {
  name: 'distillations',
  level: 'dataset',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes what was learned in a session with the session',
  },
  belongsTo: { user: 'userId', dataset: 'scope' },
  indexes: [{ fields: ['userId'] }, { fields: ['userId'], wide: true }],
};

/** How far a session was distilled into lessons of a dataset. */
export interface Distillation extends Pick<DistillationDocument, 'turns' | 'feedback' | 'rows'> {
  /** Turns with numbers up to this. */
  readonly turns: number;
  /** Feedback with numbers up to this. */
  readonly feedback: number;
  /** Ids of context rows, sorted. */
  readonly rows: readonly string[];
  /** 0: not stored yet. */
  readonly version: number;
}

export type Distillations = ReturnType<typeof createDistillations>;

export function createDistillations(store: DocumentStore) {
  return {
    /** Nothing done for a session that never was distilled into the dataset. */
    async of(scope: DatasetScope, session: SessionStart): Promise<Distillation> {
      const stored = await store.get(scope, distillationsCollection, sessionDocumentId(session));
      const version = stored?.version ?? 0;
      if (stored === null || stored.value.startedAt !== session.startedAt) {
        return { turns: 0, feedback: 0, rows: [], version };
      }
      const { turns, feedback, rows } = stored.value;
      return { turns, feedback, rows, version };
    },
    /** `VersionConflictError` or `DuplicateKeyError` in the commit when another process wrote it since it was read. */
    write(session: SessionStart, { version, turns, feedback, rows }: Distillation): Write {
      const { user, startedAt } = session;
      const document = { userId: user, startedAt, turns, feedback, rows: [...new Set(rows)].toSorted() };
      return put(distillationsCollection, sessionDocumentId(session), document, { version });
    },
  };
}
