import { z } from 'zod';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { isUuid } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { pause } from '../../common/platform/async/pause.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { optional, uuid } from '../../common/platform/http/schema.ts';
import type { SocketConnection, SocketRoute } from '../../common/platform/http/socket-route.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { SessionReaders } from '../conversation/conversation.ts';
import { presentSearchEvent } from '../presenters/visualisation/search-event.ts';
import { readableDataset } from '../search-datasets.ts';
import { searchEvents } from '../views/search-events.ts';
import type { ViewDependencies } from '../views/view-graph.ts';
import { createPlaces } from './open-streams.ts';
import { instant } from './search.schema.ts';

interface LiveDependencies extends ViewDependencies {
  readonly messenger: Messenger;
  readonly sessions: SessionReaders;
  readonly clock: Clock;
  readonly logger: Logger;
}

const liveEvents = z
  .object({ events: z.array(z.looseObject({ kind: z.enum(['search', 'improve']) })), cursor: z.string().nullable() })
  .meta({ id: 'LiveEvents' });

const { routes, get } = routesOf<LiveDependencies>({ tag: 'visualize' });

/** Streams the questions that the caller asks of a dataset, as they happen (search-recall.md §8). */
export const liveEventRoutes = routes(
  get('/api/v1/visualize/live-events', 'getLiveEvents', {
    summary: 'Questions and ratings of the caller on a dataset since a time',
    permission: onDatasets('read'),
    query: z.object({ dataset_id: uuid(), since: optional(instant()) }),
    responses: {
      200: { description: 'Oldest first; `cursor` is the next `since`', schema: liveEvents },
      403: { description: 'The dataset is unknown or not readable' },
    },
    async handle({ principal, query, context }, dependencies) {
      const asking = { ...context, principal };
      const dataset = await readableDataset(dependencies.messenger, query.dataset_id, asking);
      return json(await newEvents(dependencies, { principal, dataset, since: query.since ?? null }));
    },
  }),
);

interface EventsQuery {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly since: string | null;
}

async function newEvents({ sessions }: LiveDependencies, { principal, dataset, since }: EventsQuery) {
  const events = await searchEvents(sessions, { user: principal.id, dataset, since });
  return { events: events.map(presentSearchEvent), cursor: events.at(-1)?.entry.time ?? since };
}

const EVENTS_MS = 2000;
const GRAPH_MS = 5000;
const HEARTBEAT_MS = 15_000;

/** Sockets of one caller and of this process. */
const SOCKETS = { perCaller: 32, inAll: 2000 };

/** Closes the connection with code 1008 and this reason. */
class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Socket that sends new events of the caller, and when the graph has grown. */
export function viewSocket(dependencies: LiveDependencies): SocketRoute {
  const places = createPlaces(SOCKETS);
  return {
    path: '/api/v1/visualize/subscribe/:datasetId',
    async serve(connection) {
      const leave = connection.principal === null ? () => {} : places.take(connection.principal.id);
      if (leave === null) return connection.close(1013, 'Too many sockets are open');
      try {
        await follow(dependencies, connection);
      } catch (error) {
        if (connection.signal.aborted) return;
        if (error instanceof Refusal) return connection.close(1008, error.message);
        dependencies.logger.error('visualize.socket.failed', { error, datasetId: connection.params['datasetId'] });
        connection.close(1011);
      } finally {
        leave();
      }
    },
  };
}

async function follow(dependencies: LiveDependencies, connection: SocketConnection): Promise<void> {
  const { graph, ledger, clock } = dependencies;
  const { principal, signal } = connection;
  if (principal === null) throw new Refusal('Unauthorized');
  const asking = { ...connection.context, principal };
  const id = connection.params['datasetId'] ?? '';
  if (!isUuid(id)) throw new Refusal('Invalid dataset id');
  const parsed = optional(instant()).safeParse(connection.query['since']);
  if (!parsed.success) throw new Refusal('Invalid since');
  const dataset = await admitted(dependencies, id, asking);
  const scope = scopeOf(dataset);
  let cursor = parsed.data ?? null;
  let built = await ledger.lastCommit(scope);
  let [sent, looked] = [clock.monotonicMs(), clock.monotonicMs()];
  const send = async (frame: object) => {
    sent = clock.monotonicMs();
    await connection.send(frame);
  };
  await send({ kind: 'ready', dataset_id: dataset.id, cursor });
  for (;;) {
    await pause(EVENTS_MS, signal);
    signal.throwIfAborted();
    await admitted(dependencies, id, asking);
    const news = await newEvents(dependencies, { principal, dataset, since: cursor });
    cursor = news.cursor;
    if (news.events.length > 0) await send({ kind: 'live_events', ...news });
    if (clock.monotonicMs() - looked >= GRAPH_MS) {
      looked = clock.monotonicMs();
      const now = await ledger.lastCommit(scope);
      if (now !== built) {
        const { nodes, edges } = await graph.count(scope);
        await send({ kind: 'graph_grew', dataset_id: dataset.id, node_count: nodes, edge_count: edges });
      }
      built = now;
    }
    if (clock.monotonicMs() - sent >= HEARTBEAT_MS) await send({ kind: 'heartbeat' });
  }
}

async function admitted({ messenger }: LiveDependencies, id: string, asking: CallContext): Promise<DatasetRef> {
  try {
    return await readableDataset(messenger, id, asking);
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'PermissionDeniedError')
      throw new Refusal('Not authorized to read this dataset');
    throw error;
  }
}
