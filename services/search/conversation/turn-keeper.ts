import type { NewQa } from '../../common/domain/session.ts';
import type { NewContextRow } from '../../common/domain/session-context.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { settlesWithin } from '../../common/platform/async/time-limit.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { SessionSpending } from '../../common/platform/messaging/methods/ingest.ts';
import type { Logger } from '../../common/ports/logger.ts';

/** A question with its answer, for a session of the caller. */
export interface NewTurn {
  readonly session: string;
  /** Binds a session that it opens; null binds it to none. */
  readonly dataset: DatasetRef | null;
  readonly entry: NewQa;
  /** What models were paid for it; null when none was asked, or it is told with another turn. */
  readonly spending: SessionSpending | null;
}

/** What was said of, or learned from, the turns before. */
export interface TurnNote {
  readonly session: string;
  readonly feedback: {
    readonly text: string;
    readonly qaId: string;
    /** 1 to 5. */
    readonly rating: number | null;
    readonly contextIds: readonly string[];
  } | null;
  readonly contextRatings: ReadonlyMap<string, 'helpful' | 'harmful'>;
  readonly lessons: readonly NewContextRow[];
  /** Guidance that stood in the prompt. */
  readonly servedIds: readonly string[];
}

/** The service that owns sessions. */
export interface SessionWriter {
  append(turn: NewTurn, context: CallContext): Promise<void>;
  note(note: TurnNote, context: CallContext): Promise<void>;
}

/** Keeps turns beside answers: whatever becomes of it, the answer is given. */
export interface TurnKeeper {
  /** Resolves when all is kept, failed, or takes too long to be waited for; it goes on then. */
  keep(turns: readonly NewTurn[], note: TurnNote | null, context: CallContext): Promise<void>;
  /** Until nothing is under way any more. */
  settle(): Promise<void>;
}

/** A caller's next question, which reads the session, comes later than this. */
const MAX_WAIT_MS = 250;

export function createTurnKeeper(writer: SessionWriter, logger: Logger): TurnKeeper {
  const underWay = new Set<Promise<void>>();
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const reason = isEngramError(error) ? error.wireName : error instanceof Error ? error.name : 'unknown';
      logger.warn('search.turn.unkept', { reason });
    }
  };
  const write = async (turns: readonly NewTurn[], note: TurnNote | null, context: CallContext) => {
    // The note is about turns that were there before; turns of one session are numbered as they are appended.
    if (note !== null) await attempt(() => writer.note(note, context));
    const bySession = [...Map.groupBy(turns, ({ session }) => session).values()];
    await Promise.all(
      bySession.map(async (ofSession) => {
        for (const turn of ofSession) await attempt(() => writer.append(turn, context));
      }),
    );
  };
  return {
    async keep(turns, note, { signal: _, ...context }) {
      if (turns.length === 0 && note === null) return;
      const work = write(turns, note, context).finally(() => underWay.delete(work));
      underWay.add(work);
      await settlesWithin(work, MAX_WAIT_MS);
    },
    async settle() {
      await Promise.all(underWay);
    },
  };
}
