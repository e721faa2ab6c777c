import type { Scope } from '../../../services/common/kernel/scope.ts';
import { createEventLog, eventsCollection } from '../../../services/common/platform/events/event-log.ts';
import { createEventRelay, type EventRelaySettings } from '../../../services/common/platform/events/event-relay.ts';
import { relayPositionsCollection } from '../../../services/common/platform/events/relay-position.ts';
import { createSystemClock } from '../../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../../services/common/platform/system/id-source.ts';
import type { NewEvent } from '../../../services/common/ports/event-log.ts';
import { openSqliteDocumentStore } from '../../../services/common/storage/documents/sqlite/document-store.ts';
import type { EventPublisher } from '../../../services/common/storage/ports/event-publisher.ts';

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
    store,
    eventLog,
    publisher,
    clock,
    ids,
    logger: { debug: note, info: note, warn: note, error: note },
    metrics: { eventsRelayed: () => {} },
    settings: { pollMs: 20, backOffMs: 20, maxBackOffMs: 200, ...settings },
  });
  return {
    relay,
    store,
    log,
    append: (scope: Scope, events: readonly NewEvent[]) => store.commit(scope, eventLog.appendWrites(scope, events)),
  };
}
