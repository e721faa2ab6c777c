import { fromJson, type JsonObject as ProtoJson } from '@bufbuild/protobuf';
import { RunJobSchema } from '../../../../proto/gen/engram/jobs/v1/jobs_pb.ts';
import { type JsonObject, MAX_JSON_DEPTH } from '../../kernel/json.ts';
import type { RunJob } from './jobs.ts';

/** A level of JSON is one of `Struct`, `Value` and perhaps `ListValue`. */
const MESSAGES_PER_LEVEL = 3;
const OPTIONS = { ignoreUnknownFields: true, recursionLimit: (MAX_JSON_DEPTH + 10) * MESSAGES_PER_LEVEL };

export function fromRunJob(payload: JsonObject): RunJob {
  const { runId, datasetId, userId, userTenant, options, trace } = fromJson(
    RunJobSchema,
    payload as ProtoJson,
    OPTIONS,
  );
  const job = { runId, datasetId, userId, userTenant };
  const missing = Object.entries(job).filter(([, value]) => value === '');
  if (missing.length > 0) throw new Error(`the job lacks ${missing.map(([name]) => name).join(', ')}`);
  return { ...job, options: options ?? {}, ...(trace === undefined ? {} : { trace }) };
}
