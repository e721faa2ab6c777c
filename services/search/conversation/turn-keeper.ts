import type { NewQa, SessionSpending } from '../../common/domain/session.ts';
import type { NewContextRow } from '../../common/domain/session-context.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { settlesWithin } from '../../common/platform/async/time-limit.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { IdSource } from '../../common/ports/system.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import type { DatasetOutcome } from '../model.ts';
import { type Conversation, defaultSession } from './conversation.ts';

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
interface SessionWriter {
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

/** Over the bus: ingest alone writes sessions. */
export function createSessionWriter(messenger: Messenger, ids: IdSource): SessionWriter {
  return {
    async append({ dataset, ...rest }, context) {
      const turn = { ...rest, qaId: ids.uuid(), datasetId: dataset?.id ?? null };
      const { stored } = await messenger.call('ingest.AppendSession', turn, context);
      if (stored || dataset === null) return;
      // Bound to another dataset since it was read: this one has a session of its own.
      const session = defaultSession(dataset.id);
      if (session !== turn.session) await messenger.call('ingest.AppendSession', { ...turn, session }, context);
    },
    async note({ session, feedback, contextRatings, ...rest }, context) {
      const note = {
        ...rest,
        feedback: feedback === null ? null : { ...feedback, id: ids.uuid() },
        contextRatings: Object.fromEntries(contextRatings),
      };
      await messenger.call('ingest.NoteOnTurn', { session, note }, context);
    },
  };
}

type Place = Pick<NewTurn, 'session' | 'dataset'>;

/**
 * Where the answers of one search go. A session belongs to one dataset: whoever may read that may read it, and it goes with
 * it. What other datasets answered goes to the session that each has for whoever names none. A session without a dataset
 * gets the first that has an answer.
 */
export function placeOfTurns(
  conversation: Conversation | null,
  outcomes: readonly DatasetOutcome[],
): (dataset: DatasetRef | null) => Place {
  if (conversation === null) return ofDataset;
  const { key, session } = conversation;
  const answering = outcomes.find(hasAnswer) ?? outcomes[0];
  const home = session?.dataset ?? answering?.dataset?.id;
  return (dataset) =>
    dataset === null || dataset.id === home ? { session: key.session, dataset } : ofDataset(dataset);
}

function ofDataset(dataset: DatasetRef | null): Place {
  return { session: defaultSession(dataset?.id ?? null), dataset };
}

function hasAnswer({ outcome }: DatasetOutcome): boolean {
  return outcome?.kind === 'completion' && outcome.answer !== null && outcome.answer !== NOTHING_FITS;
}

/** Adds up what the calls of models for one turn took. `embedder`: the name of the model that embeds. */
export function createTurnSpending(model: string | null, embedder: string) {
  let [tokensIn, tokensOut, embeddingTokens] = [0, 0, 0];
  const onUsage: NonNullable<ModelCallContext['onUsage']> = ({ inputTokens, outputTokens }, kind) => {
    if (kind === 'embedding') {
      embeddingTokens += inputTokens;
      return;
    }
    tokensIn += inputTokens;
    tokensOut += outputTokens;
  };
  return {
    onUsage,
    /** Null when no model was asked. */
    total(): SessionSpending | null {
      if (tokensIn + tokensOut + embeddingTokens === 0) return null;
      const embeddingModel = embeddingTokens === 0 ? null : embedder;
      return { model, embeddingModel, tokensIn, tokensOut, embeddingTokens };
    },
  };
}
