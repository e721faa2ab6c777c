import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import type { DatasetOutcome } from '../usecases/search-outcome.ts';
import type { Conversation } from './conversation.ts';
import { defaultSession } from './default-session.ts';
import type { NewTurn } from './turn-keeper.ts';

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
