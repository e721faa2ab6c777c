import { type Session, sessionDocumentId } from '../../domain/session.ts';
import type { UserId } from '../../kernel/brand.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

type PreferenceDocument = {
  readonly userId: string;
  readonly text: string;
  readonly turns: number;
  readonly textWatermark: string | null;
};

type WeightDocument = {
  readonly userId: string;
  readonly nodeId: string;
  readonly weight: number;
  readonly updatedAtTurn: number;
  /** The turn at which it says nothing any more; null: never. */
  readonly forgottenAtTurn: number | null;
};

type ProgressDocument = {
  readonly userId: string;
  /** Start of the session: a session that was deleted and opened again starts from zero. */
  readonly startedAt: string;
  readonly turns: number;
  readonly feedback: number;
  readonly remarks: string | null;
  readonly markedTurns: number;
  readonly markedFeedback: number;
};

/** Stated preferences of a user and the number of counted turns: one for each user of a dataset. */
export const preferencesCollection: OwnedCollection<PreferenceDocument> = {
  name: 'preferences',
  level: 'dataset',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes what was learned in a session with the session',
  },
  readers: ['search'],
  belongsTo: { user: 'userId', dataset: 'scope' },
  indexes: [{ fields: ['userId'] }, { fields: ['userId'], wide: true }],
};

/** Preference of a user for a node. */
export const preferenceWeightsCollection: OwnedCollection<WeightDocument> = {
  name: 'preference_weights',
  level: 'dataset',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes what was learned in a session with the session',
  },
  readers: ['search'],
  belongsTo: { user: 'userId', dataset: 'scope' },
  indexes: [{ fields: ['userId', 'forgottenAtTurn'] }, { fields: ['userId'], wide: true }],
};

/** Number of the last counted turn of a session. */
export const preferenceProgressCollection: OwnedCollection<ProgressDocument> = {
  name: 'preference_progress',
  level: 'dataset',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes what was learned in a session with the session',
  },
  readers: ['search'],
  belongsTo: { user: 'userId', dataset: 'scope' },
  indexes: [{ fields: ['userId'] }, { fields: ['userId'], wide: true }],
};

export interface UserPreference {
  /** Lines that the user stated, newest first. */
  readonly text: string;
  /** Turns counted so far, rated or not: the clock of the decay. */
  readonly turns: number;
  /** Statements up to this time are in the text. */
  readonly textWatermark: string | null;
  /** 0: not stored yet. */
  readonly version: number;
}

export interface PreferenceWeight {
  readonly nodeId: string;
  /** 0 to 1; 0.5 is neutral. */
  readonly weight: number;
  readonly updatedAtTurn: number;
  /** The turn at which it will say nothing any more; null: never. */
  readonly forgottenAtTurn: number | null;
}

export interface PreferenceProgress extends Omit<ProgressDocument, 'userId' | 'startedAt'> {
  /** Turns with numbers up to this are counted. */
  readonly turns: number;
  /** Feedback with numbers up to this is worked through. */
  readonly feedback: number;
  /** Feedback in words up to this time too. */
  readonly remarks: string | null;
  /** Turns and feedback up to these are marked in the session. */
  readonly markedTurns: number;
  readonly markedFeedback: number;
  /** 0: not stored yet. */
  readonly version: number;
}

type SessionStart = Pick<Session, 'user' | 'session' | 'startedAt'>;

interface StoredWeight extends PreferenceWeight {
  readonly version: number;
}

const READ_SLICE = 1000;
const NOTHING_DONE = { turns: 0, feedback: 0, remarks: null, markedTurns: 0, markedFeedback: 0 };

export type Preferences = ReturnType<typeof createPreferences>;

/** Preferences of a user in a dataset. Improve commits the writes; search reads. */
export function createPreferences(store: DocumentStore) {
  return {
    async of(scope: DatasetScope, user: UserId): Promise<UserPreference> {
      const stored = await store.get(scope, preferencesCollection, user);
      if (stored === null) return { text: '', turns: 0, textWatermark: null, version: 0 };
      const { userId: _, ...rest } = stored.value;
      return { ...rest, version: stored.version };
    },
    /** Weights of the nodes that have one. Batched: one read for 1000 nodes. */
    async weights(scope: DatasetScope, user: UserId, nodes: readonly string[]): Promise<readonly StoredWeight[]> {
      const ids = [...new Set(nodes)].map((node) => weightId(user, node));
      const found: StoredWeight[] = [];
      for (const slice of slices(ids, READ_SLICE)) {
        found.push(...(await store.getMany(scope, preferenceWeightsCollection, slice)).map(weightOf));
      }
      return found;
    },
    /** At most `limit` (1 to 1000) that should be forgotten by the turn. */
    async forgotten(scope: DatasetScope, user: UserId, turn: number, limit: number): Promise<readonly StoredWeight[]> {
      const where = { userId: user, forgottenAtTurn: { atMost: turn } };
      const sort = [{ field: 'forgottenAtTurn' as const }];
      return (await store.find(scope, preferenceWeightsCollection, { where, sort, limit })).items.map(weightOf);
    },
    async progress(scope: DatasetScope, session: SessionStart): Promise<PreferenceProgress> {
      const stored = await store.get(scope, preferenceProgressCollection, sessionDocumentId(session));
      const version = stored?.version ?? 0;
      if (stored === null || stored.value.startedAt !== session.startedAt) return { ...NOTHING_DONE, version };
      const { userId: _, startedAt: __, ...done } = stored.value;
      return { ...done, version };
    },
    /** The commit fails with `VersionConflictError` or `DuplicateKeyError` when another process wrote it since it was read. */
    preferenceWrite(user: UserId, { version, ...preference }: UserPreference): Write {
      return written(preferencesCollection, user, { userId: user, ...preference }, version);
    },
    weightWrite(
      user: UserId,
      { nodeId, weight, updatedAtTurn, forgottenAtTurn }: PreferenceWeight,
      version: number,
    ): Write {
      const document = { userId: user, nodeId, weight, updatedAtTurn, forgottenAtTurn };
      return written(preferenceWeightsCollection, weightId(user, nodeId), document, version);
    },
    removeWeightWrite: (user: UserId, { nodeId, version }: StoredWeight) =>
      remove(preferenceWeightsCollection, weightId(user, nodeId), version),
    progressWrite(session: SessionStart, { version, ...done }: PreferenceProgress): Write {
      const document = { userId: session.user, startedAt: session.startedAt, ...done };
      return written(preferenceProgressCollection, sessionDocumentId(session), document, version);
    },
  };
}

function written<T extends PreferenceDocument | WeightDocument | ProgressDocument>(
  collection: Collection<T>,
  id: string,
  document: T,
  version: number,
): Write {
  return version === 0 ? insert(collection, id, document) : replace(collection, id, document, version);
}

function weightId(user: UserId, node: string): string {
  return `${user}/${node}`;
}

function weightOf({ value, version }: { readonly value: WeightDocument; readonly version: number }): StoredWeight {
  const { userId: _, ...weight } = value;
  return { ...weight, version };
}
