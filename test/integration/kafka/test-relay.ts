import { openSqliteDocumentStore } from '../../../services/common/adapters/sqlite/document-store.ts';
import { createSystemClock } from '../../../services/common/adapters/system/clock.ts';
import { createIdSource } from '../../../services/common/adapters/system/id-source.ts';
import type { Scope } from '../../../services/common/domain/scope.ts';
import type { NewEvent } from '../../../services/common/ports/event-log.ts';
import type { EventPublisher } from '../../../services/common/ports/event-publisher.ts';
import { createEventLog, eventsCollection } from '../../../services/common/runs/event-log.ts';
import { createEventRelay, type EventRelaySettings } from '../../../services/common/runs/event-relay.ts';
import { relayPositionsCollection } from '../../../services/common/runs/relay-position.ts';

/** An event log in a file, and a relay of it that is not started. */
export async function openRelay({
  file,
  publisher,
  settings = {},
}: {
  readonly file: string;
  readonly publisher: EventPublisher;
  readonly settings?: Partial<EventRelaySettings>;
}) {
  const store = await openSqliteDocumentStore({ file, autoMigrate: true });
  await store.prepare([eventsCollection, relayPositionsCollection]);
  const clock = createSystemClock();
  const ids = createIdSource(clock);
  const eventLog = createEventLog({ store, clock, ids });
  const log: string[] = [];
  const note = (event: string) => void log.push(event);
  const relay = createEventRelay({
    ...{ store, eventLog, publisher, clock, ids },
    logger: { debug: note, info: note, warn: note, error: note },
    metrics: { eventsRelayed: () => {} },
    settings: { pollMs: 20, backOffMs: 20, maxBackOffMs: 200, ...settings },
  });
  return {
    ...{ relay, store, log },
    append: (scope: Scope, events: readonly NewEvent[]) => store.commit(scope, eventLog.appendWrites(scope, events)),
  };
}
