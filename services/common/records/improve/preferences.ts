import { type SessionStart, sessionDocumentId } from '../../domain/session.ts';
import type { UserId } from '../../kernel/brand.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { put, repository } from '../base/repository.ts';

type PreferenceDocument = Omit<UserPreference, 'version'> & { readonly userId: string };

type WeightDocument = PreferenceWeight & { readonly userId: string };

type ProgressDocument = Omit<PreferenceProgress, 'version'> & {
  readonly userId: string;
  /** Start of the session: a session that was deleted and opened again starts from zero. */
  readonly startedAt: string;
};

const shared = {
  level: 'dataset',
  owner: 'improve',
  writers: {
    auth: 'removes what was learned of a deleted user',
    ingest: 'removes what was learned in a session with the session',
  },
  readers: ['search'],
  belongsTo: { user: 'userId', dataset: 'scope' },
} as const;

/** Stated preferences of a user and the number of counted turns: one for each user of a dataset. */
export const preferencesCollection: OwnedCollection<PreferenceDocument> = {
  name: 'preferences',
  ...shared,
  indexes: [{ fields: ['userId'] }, { fields: ['userId'], wide: true }],
};

/** Preference of a user for a node. */
export const preferenceWeightsCollection: OwnedCollection<WeightDocument> = {
  name: 'preference_weights',
  ...shared,
  indexes: [{ fields: ['userId', 'forgottenAtTurn'] }, { fields: ['userId'], wide: true }],
};

/** Number of the last counted turn of a session. */
export const preferenceProgressCollection: OwnedCollection<ProgressDocument> = {
  name: 'preference_progress',
  ...shared,
  indexes: [{ fields: ['userId'] }, { fields: ['userId'], wide: true }],
};

export type UserPreference = {
  /** Lines that the user stated, newest first. */
  readonly text: string;
  /** Turns counted so far, rated or not: the clock of the decay. */
  readonly turns: number;
  /** Statements up to this time are in the text. */
  readonly textWatermark: string | null;
  /** 0: not stored yet. */
  readonly version: number;
};

export type PreferenceWeight = {
  readonly nodeId: string;
  /** 0 to 1; 0.5 is neutral. */
  readonly weight: number;
  readonly updatedAtTurn: number;
  /** The turn at which it will say nothing any more; null: never. */
  readonly forgottenAtTurn: number | null;
};

export type PreferenceProgress = {
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
};

interface StoredWeight extends PreferenceWeight {
  readonly version: number;
}

const NOTHING_DONE = { turns: 0, feedback: 0, remarks: null, markedTurns: 0, markedFeedback: 0 };

export type Preferences = ReturnType<typeof createPreferences>;

/** Preferences of a user in a dataset. Improve commits the writes; search reads. */
export function createPreferences(store: DocumentStore) {
  const weights = repository(store, preferenceWeightsCollection, weightOf);
  return {
    async of(scope: DatasetScope, user: UserId): Promise<UserPreference> {
      const stored = await store.get(scope, preferencesCollection, user);
      if (stored === null) return { text: '', turns: 0, textWatermark: null, version: 0 };
      const { userId: _, ...rest } = stored.value;
      return { ...rest, version: stored.version };
    },
    /** Weights of the nodes that have one. Batched: one read for 1000 nodes. */
    weights: (scope: DatasetScope, user: UserId, nodes: readonly string[]) =>
      weights.getMany(
        scope,
        [...new Set(nodes)].map((node) => weightId(user, node)),
      ),
    /** At most `limit` (1 to 1000) that should be forgotten by the turn. */
    async forgotten(scope: DatasetScope, user: UserId, turn: number, limit: number): Promise<readonly StoredWeight[]> {
      const where = { userId: user, forgottenAtTurn: { atMost: turn } };
      const sort = [{ field: 'forgottenAtTurn' as const }];
      return (await weights.page(scope, { where, sort, limit })).items;
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
      return put(preferencesCollection, user, { userId: user, ...preference }, { version });
    },
    weightWrite(user: UserId, { nodeId, weight, updatedAtTurn, forgottenAtTurn }: PreferenceWeight, version: number) {
      const document = { userId: user, nodeId, weight, updatedAtTurn, forgottenAtTurn };
      return weights.putWrite(weightId(user, nodeId), document, { version });
    },
    removeWeightWrite: (user: UserId, { nodeId, version }: StoredWeight) =>
      weights.removeWrite(weightId(user, nodeId), version),
    progressWrite(session: SessionStart, { version, ...done }: PreferenceProgress): Write {
      const document = { userId: session.user, startedAt: session.startedAt, ...done };
      return put(preferenceProgressCollection, sessionDocumentId(session), document, { version });
    },
  };
}

function weightId(user: UserId, node: string): string {
  return `${user}/${node}`;
}

function weightOf({ value, version }: Stored<WeightDocument>): StoredWeight {
  const { userId: _, ...weight } = value;
  return { ...weight, version };
}
