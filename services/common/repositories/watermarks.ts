import type { DatasetId, UserId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import type { Session, SessionKey } from '../domain/session.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  removeWhere,
  replace,
  type Write,
} from '../ports/document-store.ts';
import { sessionDocumentId } from './sessions.ts';

/** What improve has got to in a session, by what it reads: its feedback, its answers, its steps. */
export type WatermarkPurpose = 'feedback' | 'session_qa' | 'agent_traces';

type WatermarkDocument = {
  readonly userId: string;
  readonly sessionId: string;
  /** Of the session: one that was deleted and opened again begins anew. */
  readonly startedAt: string;
  readonly purpose: WatermarkPurpose;
  readonly done: number;
  readonly window: { readonly from: number; readonly to: number; readonly datasetId: string } | null;
};

export const watermarksCollection: Collection<WatermarkDocument> = {
  name: 'improve_watermarks',
  level: 'tenant',
  indexes: [{ fields: ['userId', 'sessionId'] }, { fields: ['userId'], wide: true }],
};

/** Entries `from` + 1 to `to`, by their numbers, that are on their way into a dataset. */
export interface PlannedWindow {
  readonly from: number;
  readonly to: number;
  readonly dataset: DatasetId;
}

export interface Watermark {
  readonly session: Pick<Session, 'user' | 'session' | 'startedAt'>;
  readonly purpose: WatermarkPurpose;
  /** Entries or feedbacks with numbers up to it are worked through. */
  readonly done: number;
  /** Written before the work on a window begins, so that one who died is followed by one who repeats exactly that. */
  readonly window: PlannedWindow | null;
  /** Null: not stored yet. */
  readonly version: number | null;
}

export interface Watermarks {
  /** Zero for a session without one. */
  get(scope: Scope, session: Watermark['session'], purpose: WatermarkPurpose): Promise<Watermark>;
  /** `VersionConflictError` or `DuplicateKeyError` in the commit when somebody else moved it since. */
  moveWrite(watermark: Watermark, to: Partial<Pick<Watermark, 'done' | 'window'>>): Write;
  /** After the commit of that write. */
  moved(watermark: Watermark, to: Partial<Pick<Watermark, 'done' | 'window'>>): Watermark;
  removeOfSessionWrite(key: SessionKey): Write;
  removeOfUserWrite(user: UserId): Write;
}

export function createWatermarks(store: DocumentStore): Watermarks {
  const collection = watermarksCollection;
  return {
    async get(scope, session, purpose) {
      const stored = await store.get(scope, collection, watermarkId(session, purpose));
      const version = stored?.version ?? null;
      if (stored === null || stored.value.startedAt !== session.startedAt) {
        return { session, purpose, done: 0, window: null, version };
      }
      const { done, window } = stored.value;
      const planned =
        window === null ? null : { from: window.from, to: window.to, dataset: asId<DatasetId>(window.datasetId) };
      return { session, purpose, done, window: planned, version };
    },
    moveWrite(watermark, to) {
      const { session, purpose, version } = watermark;
      const { done, window } = { ...watermark, ...to };
      const document: WatermarkDocument = {
        ...{ userId: session.user, sessionId: session.session, startedAt: session.startedAt, purpose, done },
        window: window === null ? null : { from: window.from, to: window.to, datasetId: window.dataset },
      };
      const id = watermarkId(session, purpose);
      return version === null ? insert(collection, id, document) : replace(collection, id, document, version);
    },
    moved: (watermark, to) => ({ ...watermark, ...to, version: (watermark.version ?? 0) + 1 }),
    removeOfSessionWrite: ({ user, session }) => removeWhere(collection, { userId: user, sessionId: session }),
    removeOfUserWrite: (user) => removeWhere(collection, { userId: user }),
  };
}

function watermarkId(session: Watermark['session'], purpose: WatermarkPurpose): string {
  return `${sessionDocumentId(session)}/${purpose}`;
}
