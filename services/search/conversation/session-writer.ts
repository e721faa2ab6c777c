import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { appendSession, noteOnTurn } from '../../common/platform/messaging/methods/ingest.ts';
import type { IdSource } from '../../common/ports/system.ts';
import { defaultSession } from './default-session.ts';
import type { SessionWriter } from './turn-keeper.ts';

/** Over the bus: ingest alone writes sessions. */
export function createSessionWriter(messenger: Messenger, ids: IdSource): SessionWriter {
  return {
    async append({ dataset, ...rest }, context) {
      const turn = { ...rest, qaId: ids.uuid(), datasetId: dataset?.id ?? null };
      const { stored } = await messenger.call(appendSession, turn, context);
      if (stored || dataset === null) return;
      // Bound to another dataset since it was read: this one has a session of its own.
      const session = defaultSession(dataset.id);
      if (session !== turn.session) await messenger.call(appendSession, { ...turn, session }, context);
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
