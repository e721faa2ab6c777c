import type { JsonObject } from '../../kernel/json.ts';

/** What a run's job carries: `engram.jobs.v1.RunJob` as ProtoJSON, which is this object as it stands. */
export interface RunJob extends JsonObject {
  readonly runId: string;
  readonly datasetId: string;
  readonly userId: string;
  readonly userTenant: string;
  readonly options: JsonObject;
  /** See `Tracer.carried`; absent: what asked for the run was not traced. */
  readonly trace?: string;
}

/** A stored payload, perhaps of another release: what is unknown is left out. Throws when it is no such job. */
export async function readRunJob(payload: JsonObject): Promise<RunJob> {
  const { fromRunJob } = await import('./run-job-codec.ts');
  return fromRunJob(payload);
}
