import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import type { JsonObject } from '../../common/domain/json.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { COGNIFY_PIPELINE, type RunState } from '../../common/domain/run.ts';
import type { CognifyOptions } from '../../common/messaging/methods/cognify.ts';
import type { RunRequest } from '../../common/runs/run-engine.ts';
import { COGNIFY_JOB } from '../consumers/cognify-job.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { withDefaults } from './dataset-configuration.ts';

/** Records the run as STARTED and queues it, with what its dataset is configured to; durable when it resolves. */
export async function startCognify(
  { engine, configurations }: Pick<CognifyDependencies, 'engine' | 'configurations'>,
  request: {
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly options: CognifyOptions;
    readonly background: boolean;
  } & Pick<RunRequest, 'also'>,
): Promise<RunState> {
  const options = (await withDefaults({ configurations }, scopeOf(request.dataset), request.options)) as JsonObject;
  return engine.submit({ ...request, options, kind: COGNIFY_JOB, pipeline: COGNIFY_PIPELINE });
}
