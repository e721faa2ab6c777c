import { type SessionKey, type SessionStart, sessionDocumentId } from '../../domain/session.ts';
import type { UserId } from '../../kernel/brand.ts';
import type { Scope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { type DocumentStore, removeWhere, type Stored, type Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { put } from '../base/repository.ts';

/** How far improve has read a session: its feedback, its answers or its agent steps. */
export type WatermarkPurpose = 'feedback' | 'session_qa' | 'agent_traces';

type WatermarkDocument = {
  readonly userId: string;
  readonly sessionId: string;
  /** Start of the session: a session that was deleted and opened again starts from zero. */
  readonly startedAt: string;
  readonly purpose: WatermarkPurpose;
  readonly done: number;
  readonly remarks: string | null;
  readonly pending: readonly string[];
  readonly window: { readonly from: number; readonly to: number } | null;
};

export const watermarksCollection: OwnedCollection<WatermarkDocument> = {
  name: 'improve_watermarks',
  level: 'tenant',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes what was learned in a session with the session',
  },
  belongsTo: { user: 'userId', tenant: 'scope' },
  indexes: [{ fields: ['userId', 'sessionId'] }, { fields: ['userId'], wide: true }],
};

/** Entries `from` + 1 to `to`, by their numbers, that are on their way into memory. */
export interface PlannedWindow {
  readonly from: number;
  readonly to: number;
}

export interface Watermark {
  readonly session: SessionStart;
  readonly purpose: WatermarkPurpose;
  /** Entries or feedbacks with numbers up to it are worked through. */
  readonly done: number;
  /** Time of the last feedback that was processed. */
  readonly remarks: string | null;
  /** Answers whose feedback is to be processed again. */
  readonly pending: readonly string[];
  /** Written before the work on a window begins, so that after a crash exactly that window is repeated. */
  readonly window: PlannedWindow | null;
  /** Null: not stored yet. */
  readonly version: number | null;
}

type WatermarkMove = Partial<Pick<Watermark, 'done' | 'remarks' | 'pending' | 'window'>>;

/** Zero for a session without one. */
export type SessionWatermarks = (session: Watermark['session'], purpose: WatermarkPurpose) => Watermark;

const PURPOSES: readonly WatermarkPurpose[] = ['feedback', 'session_qa', 'agent_traces'];
const READ_SLICE = 1000;

export type Watermarks = ReturnType<typeof createWatermarks>;

export function createWatermarks(store: DocumentStore) {
  const collection = watermarksCollection;
  return {
    /** Zero for a session without one. */
    async get(scope: Scope, session: Watermark['session'], purpose: WatermarkPurpose): Promise<Watermark> {
      return watermarkOf(session, purpose, await store.get(scope, collection, watermarkId(session, purpose)));
    },
    /** All purposes of all of them, read together. */
    async ofMany(scope: Scope, keys: readonly SessionKey[]): Promise<SessionWatermarks> {
      const ids = keys.flatMap((key) => PURPOSES.map((purpose) => watermarkId(key, purpose)));
      const read = slices(ids, READ_SLICE).map((slice) => store.getMany(scope, collection, slice));
      const found = new Map((await Promise.all(read)).flat().map((stored) => [stored.id, stored]));
      return (session, purpose) => watermarkOf(session, purpose, found.get(watermarkId(session, purpose)) ?? null);
    },
    /** `VersionConflictError` or `DuplicateKeyError` in the commit when another process moved it since. */
    moveWrite(watermark: Watermark, to: WatermarkMove): Write {
      const { session, version: _, window, ...marks } = { ...watermark, ...to };
      const { user: userId, session: sessionId, startedAt } = session;
      const document = { userId, sessionId, startedAt, ...marks, window: window === null ? null : { ...window } };
      return put(collection, watermarkId(session, marks.purpose), document, watermark);
    },
    /** After the commit of that write. */
    moved: (watermark: Watermark, to: WatermarkMove) => ({
      ...watermark,
      ...to,
      version: (watermark.version ?? 0) + 1,
    }),
    removeOfSessionWrite: ({ user, session }: SessionKey) =>
      removeWhere(collection, { userId: user, sessionId: session }),
    removeOfUserWrite: (user: UserId) => removeWhere(collection, { userId: user }),
  };
}

function watermarkOf(
  session: Watermark['session'],
  purpose: WatermarkPurpose,
  stored: Stored<WatermarkDocument> | null,
): Watermark {
  const version = stored?.version ?? null;
  if (stored === null || stored.value.startedAt !== session.startedAt) {
    return { session, purpose, done: 0, remarks: null, pending: [], window: null, version };
  }
  const { done, remarks, pending, window } = stored.value;
  return { session, purpose, done, remarks, pending, window, version };
}

function watermarkId(session: SessionKey, purpose: WatermarkPurpose): string {
  return `${sessionDocumentId(session)}/${purpose}`;
}
