import type { NewQa, SessionSpending } from '../../common/domain/session.ts';
import type { TurnNote } from '../../common/domain/session-context.ts';
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

/** A question and its answer, to append to a session of the caller. */
export interface NewTurn {
  readonly session: string;
  /** The dataset of a session that this turn opens; null for none. */
  readonly dataset: DatasetRef | null;
  readonly entry: NewQa;
  /** Token usage of models; null when no model was called, or another turn carries it. */
  readonly spending: SessionSpending | null;
}

/** A note on turns of a session, whose feedback has no id yet. */
export interface NewNote extends Omit<TurnNote, 'feedback'> {
  readonly session: string;
  readonly feedback: Omit<NonNullable<TurnNote['feedback']>, 'id'> | null;
}

/** Writes to the service that owns sessions. */
type SessionWriter = ReturnType<typeof createSessionWriter>;

/** Saves turns. Failures are logged and do not fail the answer. */
export type TurnRecorder = ReturnType<typeof createTurnRecorder>;

/** Time limit of `save`: the next question, which reads the session, comes later. */
const MAX_WAIT_MS = 250;

export function createTurnRecorder(writer: SessionWriter, logger: Logger) {
  const inFlight = new Set<Promise<void>>();
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const reason = isEngramError(error) ? error.wireName : error instanceof Error ? error.name : 'unknown';
      logger.warn('search.turn.save_failed', { reason });
    }
  };
  const write = async (turns: readonly NewTurn[], note: NewNote | null, context: CallContext) => {
    // The note is about earlier turns, so it goes first; turns of one session are numbered in the order of appending.
    if (note !== null) await attempt(() => writer.note(note, context));
    const bySession = [...Map.groupBy(turns, ({ session }) => session).values()];
    await Promise.all(
      bySession.map(async (ofSession) => {
        for (const turn of ofSession) await attempt(() => writer.append(turn, context));
      }),
    );
  };
  return {
    /** Resolves when everything was saved or failed, or after a time limit; saving continues then. */
    async save(turns: readonly NewTurn[], note: NewNote | null, { signal: _, ...context }: CallContext) {
      if (turns.length === 0 && note === null) return;
      const work = write(turns, note, context).finally(() => inFlight.delete(work));
      inFlight.add(work);
      await settlesWithin(work, MAX_WAIT_MS);
    },
    /** Resolves when no save is in flight. */
    async settle() {
      await Promise.all(inFlight);
    },
  };
}

/** Creates the writer that sends turns to ingest over the bus. */
export function createSessionWriter(messenger: Messenger, ids: IdSource) {
  return {
    async append({ dataset, ...rest }: NewTurn, context: CallContext) {
      const turn = { ...rest, qaId: ids.uuid(), datasetId: dataset?.id ?? null };
      const { stored } = await messenger.call('ingest.AppendSession', turn, context);
      if (stored || dataset === null) return;
      // The session was bound to another dataset meanwhile: use the default session of this one.
      const session = defaultSession(dataset.id);
      if (session !== turn.session) await messenger.call('ingest.AppendSession', { ...turn, session }, context);
    },
    async note({ session, feedback, ...rest }: NewNote, context: CallContext) {
      const note = { ...rest, feedback: feedback === null ? null : { ...feedback, id: ids.uuid() } };
      await messenger.call('ingest.NoteOnTurn', { session, note }, context);
    },
  };
}

type Place = Pick<NewTurn, 'session' | 'dataset'>;

/**
 * Returns the session for the answer of each dataset. A session belongs to one dataset, whose readers may read it and with
 * which it is erased. Answers of other datasets go to their default sessions. A session without a dataset gets the first
 * one that has an answer.
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

/** Sums the token usage of the model calls of one turn. `embedder`: name of the embedding model. */
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
    /** Returns null when no model was called. */
    total(): SessionSpending | null {
      if (tokensIn + tokensOut + embeddingTokens === 0) return null;
      const embeddingModel = embeddingTokens === 0 ? null : embedder;
      return { model, embeddingModel, tokensIn, tokensOut, embeddingTokens };
    },
  };
}
