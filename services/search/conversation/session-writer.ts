import type { Messenger } from '../../common/messaging/messenger.ts';
import { appendSession, noteOnTurn } from '../../common/messaging/methods/ingest.ts';
import type { IdSource } from '../../common/ports/system.ts';
import type { SessionWriter } from './turn-keeper.ts';

/** Over the bus: ingest alone writes sessions. */
export function createSessionWriter(messenger: Messenger, ids: IdSource): SessionWriter {
  return {
    async append({ dataset, ...rest }, context) {
      const turn = { ...rest, qaId: ids.uuid(), datasetId: dataset?.id ?? null };
      await messenger.call(appendSession, turn, context);
    },
    async note({ session, feedback, contextRatings, ...rest }, context) {
      const note = {
        ...rest,
        feedback: feedback === null ? null : { ...feedback, id: ids.uuid() },
        contextRatings: Object.fromEntries(contextRatings),
      };
      await messenger.call(noteOnTurn, { session, note }, context);
    },
  };
}
