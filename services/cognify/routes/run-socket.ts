import { isTerminal, RUN_STATUS_NAMES, type RunEvent, type RunState } from '../../common/domain/run.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import { createWakeUp } from '../../common/platform/async/wake-up.ts';
import type { SocketConnection, SocketRoute } from '../../common/platform/http/socket-route.ts';
import { wholeGraph } from '../../common/presenters/graph-json.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { datasetWith, isPermissionDenied } from '../runs/permitted-datasets.ts';
import { type FoundRun, readRun } from '../runs/read-runs.ts';

/** How often the run is read; a lost event delays a frame by this time. */
const POLL_MS = 2000;

/** How often the permission is checked again. */
const RECHECK_MS = 1000;

/** Closes the connection with code 1008 and this reason (auth-integrations.md §1.7). */
class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Socket that follows a run: a frame per finished item and one for its end, then close code 1000. */
export function runSocket(dependencies: CognifyDependencies): SocketRoute {
  const { logger } = dependencies;
  return {
    path: '/api/v1/cognify/subscribe/:runId',
    async serve(connection) {
      try {
        await follow(dependencies, connection);
        connection.close(1000);
      } catch (error) {
        if (connection.signal.aborted) return;
        if (error instanceof Refusal) return connection.close(1008, error.message);
        logger.error('cognify.socket.failed', { error, runId: connection.params['runId'] });
        connection.close(1011);
      }
    },
  };
}

async function follow(dependencies: CognifyDependencies, connection: SocketConnection): Promise<void> {
  const { messenger, clock } = dependencies;
  const found = await admitted(dependencies, connection);
  let checkedMs = clock.monotonicMs();
  const events: RunEvent[] = [];
  const wakeUp = createWakeUp();
  const subscription = await messenger.subscribe('runs', found.run.id, (event) => {
    events.push(event);
    wakeUp.notify();
  });
  try {
    for (;;) {
      // Read after the subscription began, so that an end in between is not lost.
      const present = (await readRun(dependencies, found.run.id)) ?? found;
      for (const event of events.splice(0)) {
        if (clock.monotonicMs() - checkedMs >= RECHECK_MS) {
          checkedMs = clock.monotonicMs();
          await requireReadable(dependencies, connection, present);
        }
        if (event.kind === 'progress') await connection.send(progressFrame(event));
      }
      if (isTerminal(present.run.status)) {
        await requireReadable(dependencies, connection, present);
        return await connection.send(await endFrame(dependencies, present, connection.signal));
      }
      await wakeUp.wait(POLL_MS, connection.signal);
      connection.signal.throwIfAborted();
    }
  } finally {
    await subscription.stop();
  }
}

async function admitted(dependencies: CognifyDependencies, connection: SocketConnection): Promise<FoundRun> {
  const runId = connection.params['runId'] ?? '';
  if (connection.principal === null) throw new Refusal('Unauthorized');
  if (!isUuid(runId)) throw new Refusal('Invalid pipeline run id');
  const found = await readRun(dependencies, runId);
  // A run that may not be read is answered like an unknown one, so that ids cannot be probed.
  const isReadable = found !== null && (await mayRead(dependencies, connection, found));
  if (!isReadable) throw new Refusal('Pipeline run not found');
  return found;
}

async function requireReadable(
  dependencies: CognifyDependencies,
  connection: SocketConnection,
  found: FoundRun,
): Promise<void> {
  if (!(await mayRead(dependencies, connection, found))) throw new Refusal('Not authorized to read this pipeline run');
}

async function mayRead(
  { messenger }: CognifyDependencies,
  { principal, context }: SocketConnection,
  { run }: FoundRun,
): Promise<boolean> {
  if (principal === null) return false;
  const reading = datasetWith(messenger, { principal, permission: 'read' }, run.dataset, context);
  return (await nullIf(isPermissionDenied, reading)) !== null;
}

function progressFrame(event: Extract<RunEvent, { kind: 'progress' }>): object {
  return {
    pipeline_run_id: event.run.id,
    status: 'PipelineRunProgress',
    completed_items: null,
    total_items: null,
    current_stage: event.stage,
    stage_index: event.stageIndex,
    stage_total: event.stageTotal,
  };
}

async function endFrame(
  dependencies: CognifyDependencies,
  { run, tenant }: { readonly run: RunState; readonly tenant: string },
  signal: AbortSignal,
): Promise<object> {
  const graph = await openGraph(dependencies, datasetScope(asId(tenant), run.dataset));
  return { pipeline_run_id: run.id, status: RUN_STATUS_NAMES[run.status], payload: await wholeGraph(graph, signal) };
}
