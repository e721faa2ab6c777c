import { billOf, payerOf } from '../../common/domain/budget.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { isTerminal, type RunState } from '../../common/domain/run.ts';
import { type CognifyOptions, startRun } from '../../common/messaging/methods/cognify.ts';
import { awaitRun } from '../../common/runs/await-run.ts';
import { type AddRequest, addData } from './add-data.ts';
import type { IngestDependencies } from './dependencies.ts';
import { trackedRun } from './tracked-run.ts';

export interface RememberOutcome {
  readonly dataset: DatasetRef;
  /** The state of the cognify run: terminal unless the request asked for the background. */
  readonly run: RunState;
  /** Every item the run reports, present ones only. */
  readonly items: readonly DataItem[];
  readonly elapsedSeconds: number;
}

/** Adds, then builds the graph; in the background the run is durable before the answer. */
export async function rememberData(
  dependencies: IngestDependencies,
  request: AddRequest & { readonly options: CognifyOptions; readonly background: boolean },
): Promise<RememberOutcome> {
  const { messenger, clock, ids, items } = dependencies;
  const { principal, dataset, context, options, background } = request;
  // Before the data is taken in: a request that is refused changes nothing.
  await dependencies.budgets.check(billOf(payerOf(request.principal), { concurrentRuns: 1 }));
  const startedMs = clock.monotonicMs();
  await trackedRun(messenger, { id: ids.uuid(), pipeline: 'add_pipeline', principal, dataset, context }, async () => {
    const added = await addData(dependencies, request);
    return { result: added, items: added.map(({ item }) => item.id) };
  });
  const started = await messenger.call(startRun, { dataset, options, background }, { ...context, principal });
  const run =
    background || isTerminal(started.run.status) ? started.run : await awaitRun(messenger, started.run.id, context);
  const built = await items.getMany(
    scopeOf(dataset),
    run.items.map(({ item }) => item),
  );
  return { dataset, run, items: built, elapsedSeconds: (clock.monotonicMs() - startedMs) / 1000 };
}
