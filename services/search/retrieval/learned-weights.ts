import { decayedWeight } from '../../common/domain/preference.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Clock } from '../../common/ports/system.ts';
import {
  createElementWeights,
  elementWeightsCollection,
  NEUTRAL_WEIGHT,
} from '../../common/records/improve/element-weights.ts';
import { createPreferences, type UserPreference } from '../../common/records/improve/preferences.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { LearnedShift, SearchSettings } from '../model.ts';

/** How much what was learned counts in one search. Neither: nothing is read. */
export interface InfluenceWish {
  /** 0 to 1. */
  readonly feedback: number;
  /** Null where several datasets are searched, or personalization is off. */
  readonly preferences: { readonly user: UserId; readonly influence: number; readonly beta: number } | null;
}

const NO_INFLUENCE: InfluenceWish = { feedback: 0, preferences: null };

/** Weights of elements, by one batched read for each kind of weight. */
export type LearnedReader = (ids: readonly string[]) => Promise<LearnedWeights>;

/** What improve has learned of datasets, as searches use it. */
export interface LearnedElements {
  /** Null where nothing is wished, or the dataset has learned nothing: then there is nothing to be read. */
  reader(scope: DatasetScope, wish: InfluenceWish): Promise<LearnedReader | null>;
  /** What ratings have made of elements, by id; those that were never rated have none. */
  feedbackWeights(scope: DatasetScope, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Lines that the user stated, newest first; '' for none. */
  statedPreferences(scope: DatasetScope, wish: InfluenceWish): Promise<string>;
}

/** Whether there is anything to be read is remembered for so long. */
const REMEMBERED_MS = 1000;
const MAX_REMEMBERED = 1000;

export function createLearnedElements(store: DocumentStore, clock: Clock): LearnedElements {
  const weights = createElementWeights(store);
  const preferences = createPreferences(store);
  const remember = createShortMemory(clock);
  const isRated = ({ tenant, dataset }: DatasetScope) =>
    remember(`rated ${tenant} ${dataset}`, async () => {
      const found = await store.find({ tenant, dataset }, elementWeightsCollection, { limit: 1 });
      return found.items.length > 0;
    });
  const preferenceOf = ({ tenant, dataset }: DatasetScope, user: UserId): Promise<UserPreference> =>
    remember(`preference ${tenant} ${dataset} ${user}`, () => preferences.of({ tenant, dataset }, user));
  return {
    async reader(scope, wish) {
      if (wish.feedback <= 0 && wish.preferences === null) return null;
      const [hasRatings, preference] = await Promise.all([
        wish.feedback > 0 && isRated(scope),
        wish.preferences === null ? null : preferenceOf(scope, wish.preferences.user),
      ]);
      const isPersonal = preference !== null && preference.version > 0;
      if (!hasRatings && !isPersonal) return null;
      return async (ids) => {
        const [feedback, preferred] = await Promise.all([
          hasRatings ? weights.of(scope, ids) : NOTHING,
          isPersonal && wish.preferences !== null ? preferences.weights(scope, wish.preferences.user, ids) : [],
        ]);
        const beta = wish.preferences?.beta ?? 0;
        const turns = preference?.turns ?? 0;
        return {
          feedback,
          feedbackInfluence: wish.feedback,
          preferences: new Map(preferred.map((weight) => [weight.nodeId, decayedWeight(weight, turns, beta)])),
          preferenceInfluence: wish.preferences?.influence ?? 0,
        };
      };
    },
    async feedbackWeights(scope, ids) {
      return ids.length > 0 && (await isRated(scope)) ? weights.of(scope, ids) : NOTHING;
    },
    async statedPreferences(scope, wish) {
      return wish.preferences === null ? '' : (await preferenceOf(scope, wish.preferences.user)).text;
    },
  };
}

const NOTHING: ReadonlyMap<string, number> = new Map();

/** Values for a second, a bounded number of them; a failure is not remembered. */
function createShortMemory(clock: Clock) {
  const known = new Map<string, { readonly until: number; readonly value: Promise<unknown> }>();
  return <Value>(key: string, read: () => Promise<Value>): Promise<Value> => {
    const now = clock.monotonicMs();
    const found = known.get(key);
    if (found !== undefined && now < found.until) return found.value as Promise<Value>;
    if (known.size >= MAX_REMEMBERED) known.clear();
    const value = read();
    known.set(key, { until: now + REMEMBERED_MS, value });
    value.catch(() => known.delete(key));
    return value;
  };
}

/** How much what was learned counts in a search. Preferences are of one dataset, so they count only where one is searched. */
export function influenceOf(
  { feedbackInfluence = 0, personalization = null }: SearchSettings,
  user: UserId,
  datasets: number,
): InfluenceWish {
  if (feedbackInfluence === 0 && personalization === null) return NO_INFLUENCE;
  const isPersonal = personalization !== null && datasets === 1;
  return {
    feedback: feedbackInfluence,
    preferences: isPersonal ? { user, ...personalization } : null,
  };
}

/** Weights that were learned of nodes and edges, 0 to 1; what has none is neutral. */
export interface LearnedWeights {
  /** By ratings of answers, and how much they count: 0 to 1. */
  readonly feedback: ReadonlyMap<string, number>;
  readonly feedbackInfluence: number;
  /** By who asks, decayed to now. */
  readonly preferences: ReadonlyMap<string, number>;
  readonly preferenceInfluence: number;
}

/** What a passage is made of, by the ids of the graph. */
export interface PassageElements {
  readonly id: string;
  readonly entities: readonly string[];
}

/** An entity stands in many passages: together they say as much of one as a quarter of its own weight. */
const ENTITY_SHARE = 0.25;

/** Passages with less than this share of the best score are not moved, those between in proportion. */
const COMPETES_FROM = 0.6;

/**
 * Moves the scores of passages by what was learned of them; the order of both lists is the same. Null stands for a passage
 * that is not moved.
 *
 * The contract blends distances (cognify-improve.md §3.6): d' = 2·[(1−f)·d/2 + f·(1−w)], for distances within the range
 * in which they mean something. Our scores are evidence, larger is better and without an upper end, so the blend is made
 * relative: s' = s·[(1−f) + f·2w] = s·(1 + f·(2w−1)), which is the contract's formula for preferences (§3.11) too. It
 * leaves a neutral passage (w = 0.5) where it is and keeps zero at zero. In place of the range of distances stands the
 * relation to the best score: only what competes for the first places is moved. A passage that was confirmed for one
 * question so cannot rise for another that it hardly fits.
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

/** Of a statement: what was learned of the edge alone. */
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
