import type { Logger } from '../common/platform/observability/logger.ts';
import type { MonotonicClock } from '../common/ports/system.ts';

/** Another revision with every change. */
interface Revised {
  readonly revision: string;
}

interface FollowedModelsOptions<Active, Settings extends Revised> {
  /** The settings as they are stored; null: nothing is set. */
  readonly read: () => Promise<Settings | null>;
  readonly open: (stored: Settings | null) => Promise<Active>;
  /** Called with the models that were opened. */
  readonly opened?: (models: Active, stored: Settings | null) => void;
  /** After how long the settings are read again without any news of them. */
  readonly rereadMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

export interface FollowedModels<Active> {
  /** See `ModelSource`. */
  current(): Promise<Active>;
  /** Marks the models as outdated: callers get those that are stored now. */
  outdated(): void;
  /** The models that were opened last, for callers that cannot wait; null before the first. */
  last(): Active | null;
}

interface Opened<Active> {
  readonly revision: string | null;
  readonly models: Active;
  readonly readAtMs: number;
  /** How much news there was when the reading began. */
  readonly news: number;
}

/** Models that follow the stored settings: opened with the first question, anew when the settings are others. */
export function createFollowedModels<Active, Settings extends Revised>(
  options: FollowedModelsOptions<Active, Settings>,
): FollowedModels<Active> {
  const { read, open, rereadMs, clock, logger } = options;
  let opened: Opened<Active> | null = null;
  let news = 0;
  let refreshing: { readonly news: number; readonly work: Promise<Active> } | null = null;

  const refresh = async (): Promise<Active> => {
    const begun = { readAtMs: clock.monotonicMs(), news };
    const before = opened;
    try {
      const stored = await read();
      const revision = stored?.revision ?? null;
      const isSame = before !== null && before.revision === revision;
      const models = isSame ? before.models : await open(stored);
      if (!isSame) options.opened?.(models, stored);
      // A reading that began earlier may end later.
      if (opened === null || opened.news <= begun.news) opened = { revision, models, ...begun };
      return models;
    } catch (error) {
      if (opened === null) throw error;
      logger.warn('models.settings.unread', { error });
      opened = { ...opened, readAtMs: begun.readAtMs };
      return opened.models;
    }
  };

  return {
    async current() {
      if (opened !== null && opened.news === news && clock.monotonicMs() - opened.readAtMs < rereadMs) {
        return opened.models;
      }
      if (refreshing !== null && refreshing.news === news) return refreshing.work;
      const own = { news, work: refresh() };
      refreshing = own;
      try {
        return await own.work;
      } finally {
        if (refreshing === own) refreshing = null;
      }
    },
    outdated() {
      news += 1;
    },
    last: () => opened?.models ?? null,
  };
}
