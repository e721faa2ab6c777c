import { COGNIFY_PIPELINE, type RunState } from '../../common/domain/run.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { CognifyOptions } from '../../common/platform/messaging/methods/cognify.ts';
import { withDefaults } from '../built/dataset-configuration.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { COGNIFY_JOB } from './cognify-job.ts';
import type { RunRequest } from './run-engine.ts';

/** Records the run as STARTED and queues it, with what its dataset is configured to; durable when it resolves. */
export async function startCognify(
  deps: Pick<CognifyDependencies, 'engine' | 'configurations' | 'ledger' | 'runs'>,
  request: {
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly options: CognifyOptions;
    readonly background: boolean;
  } & Pick<RunRequest, 'also' | 'origin'>,
): Promise<RunState> {
  const scope = scopeOf(request.dataset);
  const options = await withDefaults(deps, scope, await asItemWasBuilt(deps, scope, request.options));
  const { graphModel = null, customPrompt = null } = options;
  const extraction = graphModel === null && customPrompt === null ? {} : { extraction: { graphModel, customPrompt } };
  const job = { options: options as JsonObject, kind: COGNIFY_JOB, pipeline: COGNIFY_PIPELINE };
  return deps.engine.submit({ ...request, ...extraction, ...job });
}

/** With the graph model and the prompt of the run that built the item, where none are given. */
async function asItemWasBuilt(
  { ledger, runs }: Pick<CognifyDependencies, 'ledger' | 'runs'>,
  scope: DatasetScope,
  { likeItem, ...options }: CognifyOptions,
): Promise<CognifyOptions> {
  if (likeItem === undefined) return options;
  const runId = (await ledger.entries(scope, [likeItem])).get(likeItem)?.runId;
  const extraction = runId ? (await runs.get(scope, asId(runId)))?.extraction : undefined;
  if (extraction === undefined) return options;
  const { graphModel, customPrompt } = extraction;
  return {
    ...options,
    ...(options.graphModel == null ? { graphModel } : {}),
    ...(options.customPrompt === undefined && customPrompt !== null ? { customPrompt } : {}),
  };
}
