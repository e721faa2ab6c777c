import { COGNIFY_PIPELINE, type RunState } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import type { DatasetConfigurations } from '../../common/records/cognify/dataset-configurations.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { Runs } from '../../common/records/cognify/runs.ts';
import type { ScheduledStarts } from '../../common/records/cognify/scheduled-starts.ts';
import type { OntologyFile } from '../../common/records/ingest/ontologies.ts';
import { withDefaults } from '../built/dataset-configuration.ts';
import type { RunEngine, RunRequest } from '../model.ts';

export interface StartDependencies {
  readonly engine: RunEngine;
  readonly configurations: DatasetConfigurations;
  readonly ledger: Ledger;
  readonly runs: Runs;
  /** Ontologies of runs that name none; absent: none. */
  readonly serverOntologies?: () => readonly OntologyFile[];
}

type CognifyRequest = Omit<RunRequest, 'pipeline' | 'extraction' | 'options'> & { readonly options: CognifyOptions };

/** Records the run as STARTED and queues it, with the configuration of its dataset; durable when it resolves. */
export async function startCognify(deps: StartDependencies, request: CognifyRequest): Promise<RunState> {
  const scope = scopeOf(request.dataset);
  const options = await withDefaults(deps, scope, await withOptionsOfItem(deps, scope, request.options));
  const { graphModel = null, customPrompt = null } = options;
  const ontologies = options.ontologies ?? deps.serverOntologies?.() ?? [];
  const isOwn = graphModel !== null || customPrompt !== null || ontologies.length > 0;
  return deps.engine.submit({
    ...request,
    ...(isOwn ? { extraction: { graphModel, customPrompt, ...(ontologies.length === 0 ? {} : { ontologies }) } } : {}),
    options: { ...options, ...(ontologies.length === 0 ? {} : { ontologies }) } as JsonObject,
    pipeline: COGNIFY_PIPELINE,
  });
}

/** Adds the graph model, the prompt and the ontologies of the run that built the item `likeItem`, where the request has none. */
async function withOptionsOfItem(
  { ledger, runs }: StartDependencies,
  scope: DatasetScope,
  { likeItem, ...options }: CognifyOptions,
): Promise<CognifyOptions> {
  if (likeItem == null) return options;
  const runId = (await ledger.entries(scope, [likeItem])).get(likeItem)?.runId;
  const extraction = runId ? (await runs.get(scope, asId(runId)))?.extraction : undefined;
  if (extraction === undefined) return options;
  const { graphModel, customPrompt, ontologies = null } = extraction;
  return {
    ...options,
    ...(options.graphModel == null ? { graphModel } : {}),
    ...(options.customPrompt === undefined && customPrompt !== null ? { customPrompt } : {}),
    ...(options.ontologies == null && ontologies !== null ? { ontologies } : {}),
  };
}

/**
 * Starts the run that a schedule asks for at `dueAt`, at most once however often it is called, and returns it. The run and the
 * record of its start are one commit.
 */
export function startScheduled(
  deps: StartDependencies & { readonly scheduledStarts: ScheduledStarts },
  { dueAt, ...request }: Omit<CognifyRequest, 'also'> & { readonly dueAt: string },
): Promise<RunState> {
  const { runs, scheduledStarts } = deps;
  const scope = scopeOf(request.dataset);
  return retryOnConflict(async () => {
    const before = await scheduledStarts.get(scope, COGNIFY_PIPELINE);
    const known = before?.dueAt === dueAt ? await runs.get(scope, asId<RunId>(before.startedId)) : null;
    if (known !== null) return known.state;
    const write = (run: RunId) => scheduledStarts.putWrite(COGNIFY_PIPELINE, { dueAt, startedId: run }, before);
    return startCognify(deps, { ...request, also: (run) => [write(run)] });
  });
}
