import { decayedWeight } from '../../common/domain/preference.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { createTtlCache } from '../../common/kernel/ttl-cache.ts';
import type { Clock } from '../../common/ports/system.ts';
import {
  createElementWeights,
  elementWeightsCollection,
  NEUTRAL_WEIGHT,
} from '../../common/records/improve/element-weights.ts';
import { createPreferences, type UserPreference } from '../../common/records/improve/preferences.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { LearnedShift, SearchSettings } from '../model.ts';

/** Influence of learned weights on one search. Without any, nothing is read. */
export interface InfluenceOptions {
  /** Influence of ratings, 0 to 1. */
  readonly feedback: number;
  /** Null when several datasets are searched, or personalization is off. */
  readonly preferences: { readonly user: UserId; readonly influence: number; readonly beta: number } | null;
}

const NO_INFLUENCE: InfluenceOptions = { feedback: 0, preferences: null };

/** Returns the weights of elements, with one batched read for each kind. */
export type LearnedReader = (ids: readonly string[]) => Promise<LearnedWeights>;

/** Reads what improve has learned about a dataset. */
export type LearnedElements = ReturnType<typeof createLearnedElements>;

/** Datasets, and users of them, of whom it is known for a moment whether anything was learned. */
const MAX_CACHED = 1000;

export function createLearnedElements(store: DocumentStore, clock: Clock) {
  const weights = createElementWeights(store);
  const preferences = createPreferences(store);
  const ratedDatasets = createTtlCache<string, boolean>({ clock, maxEntries: MAX_CACHED });
  const knownPreferences = createTtlCache<string, UserPreference>({ clock, maxEntries: MAX_CACHED });
  const isRated = ({ tenant, dataset }: DatasetScope) =>
    ratedDatasets.of(`${tenant} ${dataset}`, async () => {
      const found = await store.find({ tenant, dataset }, elementWeightsCollection, { limit: 1 });
      return found.items.length > 0;
    });
  const preferenceOf = ({ tenant, dataset }: DatasetScope, user: UserId): Promise<UserPreference> =>
    knownPreferences.of(`${tenant} ${dataset} ${user}`, () => preferences.of({ tenant, dataset }, user));
  return {
    /** Returns null when no influence is requested, or nothing was learned. */
    async reader(scope: DatasetScope, influence: InfluenceOptions): Promise<LearnedReader | null> {
      if (influence.feedback <= 0 && influence.preferences === null) return null;
      const [hasRatings, preference] = await Promise.all([
        influence.feedback > 0 && isRated(scope),
        influence.preferences === null ? null : preferenceOf(scope, influence.preferences.user),
      ]);
      const isPersonal = preference !== null && preference.version > 0;
      if (!hasRatings && !isPersonal) return null;
      return async (ids) => {
        const [feedback, preferred] = await Promise.all([
          hasRatings ? weights.of(scope, ids) : NOTHING,
          isPersonal && influence.preferences !== null
            ? preferences.weights(scope, influence.preferences.user, ids)
            : [],
        ]);
        const beta = influence.preferences?.beta ?? 0;
        const turns = preference?.turns ?? 0;
        return {
          feedback,
          feedbackInfluence: influence.feedback,
          preferences: new Map(preferred.map((weight) => [weight.nodeId, decayedWeight(weight, turns, beta)])),
          preferenceInfluence: influence.preferences?.influence ?? 0,
        };
      };
    },
    /** Returns the weights of rated elements by id. */
    async feedbackWeights(scope: DatasetScope, ids: readonly string[]) {
      return ids.length > 0 && (await isRated(scope)) ? weights.of(scope, ids) : NOTHING;
    },
    /** Returns the preferences that the user stated, one per line, newest first; '' without any. */
    async statedPreferences(scope: DatasetScope, influence: InfluenceOptions) {
      return influence.preferences === null ? '' : (await preferenceOf(scope, influence.preferences.user)).text;
    },
  };
}

const NOTHING: ReadonlyMap<string, number> = new Map();

/** Returns the influence by the settings. Preferences belong to one dataset, so they apply only when one is searched. */
export function influenceOf(
  { feedbackInfluence = 0, personalization = null }: SearchSettings,
  user: UserId,
  datasets: number,
): InfluenceOptions {
  if (feedbackInfluence === 0 && personalization === null) return NO_INFLUENCE;
  const isPersonal = personalization !== null && datasets === 1;
  return {
    feedback: feedbackInfluence,
    preferences: isPersonal ? { user, ...personalization } : null,
  };
}

/** Learned weights of nodes and edges, 0 to 1; elements without one are neutral. */
export interface LearnedWeights {
  /** Weights by ratings of answers, and their influence (0 to 1). */
  readonly feedback: ReadonlyMap<string, number>;
  readonly feedbackInfluence: number;
  /** Weights by preferences of the caller, decayed to now. */
  readonly preferences: ReadonlyMap<string, number>;
  readonly preferenceInfluence: number;
}

/** Graph ids of a passage and its entities. */
export interface PassageElements {
  readonly id: string;
  readonly entities: readonly string[];
}

/** Weight of a passage's entities, relative to its own: an entity occurs in many passages. */
const ENTITY_SHARE = 0.25;

/** Share of the best score from which learned weights change a score, growing linearly up to the best. */
const COMPETES_FROM = 0.6;

/**
 * Returns how learned weights change the scores of passages, in the same order; null for no change.
 *
 * The contract blends distances (cognify-improve.md §3.6): d' = 2·[(1−f)·d/2 + f·(1−w)], for distances within the range
 * in which they mean something. Our scores are evidence, larger is better and without an upper end, so the blend is made
 * relative: s' = s·[(1−f) + f·2w] = s·(1 + f·(2w−1)), which is the contract's formula for preferences (§3.11) too. It
 * leaves a neutral passage (w = 0.5) and a score of zero unchanged. Instead of the range of distances the relation to the
 * best score is used: only passages that compete for the first ranks change, so a passage that was confirmed for one
 * question cannot rise for another that it hardly matches.
 */
export function shiftsOf(
  passages: readonly PassageElements[],
  scores: readonly number[],
  learned: LearnedWeights,
): readonly (LearnedShift | null)[] {
  let best = 0;
  for (const score of scores) best = Math.max(best, score);
  return passages.map((passage, at) => {
    const feedback = biasOf(passage, learned.feedback);
    const preference = biasOf(passage, learned.preferences);
    if (best === 0 || (feedback === 0 && preference === 0)) return null;
    const part = Math.max(0, ((scores[at] ?? 0) / best - COMPETES_FROM) / (1 - COMPETES_FROM));
    if (part === 0) return null;
    const { feedbackInfluence, preferenceInfluence } = learned;
    const factor = (1 + feedbackInfluence * feedback * part) * (1 + preferenceInfluence * preference * part);
    return { feedback, preference, factor };
  });
}

/** Returns the factor of a statement's score: by ratings of its edge. */
export function statementFactor(edge: string, learned: LearnedWeights): number {
  return 1 + learned.feedbackInfluence * bias(learned.feedback.get(edge));
}

function biasOf({ id, entities }: PassageElements, weights: ReadonlyMap<string, number>): number {
  if (weights.size === 0) return 0;
  let sum = 0;
  let known = 0;
  for (const entity of entities) {
    const weight = weights.get(entity);
    if (weight === undefined) continue;
    sum += bias(weight);
    known += 1;
  }
  const shared = known === 0 ? 0 : (ENTITY_SHARE * sum) / known;
  return Math.max(-1, Math.min(1, bias(weights.get(id)) + shared));
}

function bias(weight: number = NEUTRAL_WEIGHT): number {
  return 2 * Math.max(0, Math.min(1, weight)) - 1;
}
