import { decayedWeight } from '../../common/domain/preference.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Clock } from '../../common/ports/system.ts';
import { createElementWeights, elementWeightsCollection } from '../../common/records/improve/element-weights.ts';
import { createPreferences, type UserPreference } from '../../common/records/sessions/preferences.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { LearnedWeights } from './learned-influence.ts';

/** How much what was learned counts in one search. Neither: nothing is read. */
export interface InfluenceWish {
  /** 0 to 1. */
  readonly feedback: number;
  /** Null where several datasets are searched, or personalization is off. */
  readonly preferences: { readonly user: UserId; readonly influence: number; readonly beta: number } | null;
}

export const NO_INFLUENCE: InfluenceWish = { feedback: 0, preferences: null };

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
          ...{ feedback, feedbackInfluence: wish.feedback },
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
