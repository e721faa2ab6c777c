import { z } from 'zod';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { lenientBoolean, lenientInteger, lenientNumber } from '../../common/platform/http/schema.ts';

/** Options for improving a skill beside recording a run (ingest.md §3.2). */
export type Improvement =
  | {
      readonly kind: 'draft';
      /** Null: the skill of the run. */
      readonly skill: string | null;
      /** Runs that scored below it count as failing. */
      readonly threshold: number;
      /** Newest failing runs that are looked at. */
      readonly maxRuns: number;
    }
  | { readonly kind: 'apply'; readonly skill: string | null; readonly proposal: string };

/** More runs say nothing more, and a model would have to read them. */
const MAX_RUNS = 100;

const schema = z.object({
  skill_name: z.string().nullish(),
  name: z.string().nullish(),
  apply: lenientBoolean().nullish(),
  proposal_id: z.string().nullish(),
  score_threshold: lenientNumber().nullish(),
  max_runs: lenientInteger({ min: 1, max: MAX_RUNS }).nullish(),
});

/** `InvalidRequestError` for options that cannot be read, and for an application without a proposal. */
export function readImprovement(options: JsonObject | null): Improvement | null {
  if (options === null) return null;
  const read = schema.safeParse(options);
  if (!read.success) throw engramError('InvalidRequestError', 'skill_improvement has an option that cannot be read.');
  const { data } = read;
  const skill = data.skill_name || data.name || null;
  if (data.apply !== true) {
    return { kind: 'draft', skill, threshold: data.score_threshold ?? 0.5, maxRuns: data.max_runs ?? 5 };
  }
  if (!data.proposal_id)
    throw engramError('InvalidRequestError', 'skill_improvement applies the proposal of a proposal_id.');
  return { kind: 'apply', skill, proposal: data.proposal_id.toLowerCase() };
}
