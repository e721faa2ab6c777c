import type { JsonObject as ProtoJson } from '@bufbuild/protobuf';
import { type JsonObject, MAX_JSON_DEPTH } from '../../kernel/json.ts';

/** Payload of the job of a run: `engram.jobs.v1.RunJob` as ProtoJSON, which is this object as it stands. */
export interface RunJob extends JsonObject {
  readonly runId: string;
  readonly datasetId: string;
  readonly userId: string;
  readonly userTenant: string;
  readonly options: JsonObject;
  /** See `Tracer.carried`; absent: the request for the run was not traced. */
  readonly trace?: string;
}

/** A level of JSON is one of `Struct`, `Value` and perhaps `ListValue`. */
const MESSAGES_PER_LEVEL = 3;
const OPTIONS = { ignoreUnknownFields: true, recursionLimit: (MAX_JSON_DEPTH + 10) * MESSAGES_PER_LEVEL };

/** Reads a stored payload, perhaps of another release: unknown fields are left out. Throws when it is not a job of a run. */
export async function readRunJob(payload: JsonObject): Promise<RunJob> {
  // With the first job: the messages would make each start longer.
  const { RunJobSchema } = await import('../../../../proto/gen/engram/jobs/v1/jobs_pb.ts');
  const { fromJson } = await import('@bufbuild/protobuf');
  const read = fromJson(RunJobSchema, payload as ProtoJson, OPTIONS);
  const { runId, datasetId, userId, userTenant, options, trace } = read;
  const job = { runId, datasetId, userId, userTenant };
  const missing = Object.entries(job).filter(([, value]) => value === '');
  if (missing.length > 0) throw new Error(`the job lacks ${missing.map(([name]) => name).join(', ')}`);
  return { ...job, options: options ?? {}, ...(trace === undefined ? {} : { trace }) };
}
