import type { SessionKey } from '../../common/domain/session.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { type CustomEnrichment, createPassReads, type ImprovePass, type Stage, type StageName } from '../model.ts';
import type { MemifyTask } from '../structure/memify-tasks.ts';
import { type TripletDependencies, writeTriplets } from '../structure/write-triplets.ts';
import { keepDocuments } from './keep-documents.ts';

interface CustomTaskDependencies extends TripletDependencies, Pick<ImproveDependencies, 'messenger' | 'sessions'> {
  /** The stages that tasks run. */
  readonly stages: readonly Stage[];
}

/** Tasks that write the triplets of the visible graph. */
const TRIPLET_TASKS: readonly MemifyTask[] = ['get_triplet_datapoints', 'index_data_points', 'add_data_points'];

/** Tasks that run a stage, in the order of the stages, and the node set of a text in their place. */
const STAGE_TASKS: readonly {
  readonly task: MemifyTask;
  readonly stage: StageName;
  readonly nodeSet: string | null;
}[] = [
  { task: 'apply_feedback_weights', stage: 'feedback_weights', nodeSet: null },
  { task: 'cognify_session', stage: 'persist_session_qa', nodeSet: 'user_sessions_from_cache' },
  { task: 'cognify_agent_trace_feedback', stage: 'persist_agent_traces', nodeSet: 'agent_trace_feedbacks' },
];

/**
 * Runs the named tasks (cognify-improve.md §4). Session tasks persist the text of the request, or without one the sessions of
 * the pass, else those of the caller that are bound to the dataset. Extraction tasks have no effect of their own: the
 * enrichment tasks know what to read. A text without task names is cognified.
 */
export async function runCustomTasks(
  deps: CustomTaskDependencies,
  pass: ImprovePass,
  { extractionTasks, enrichmentTasks, data }: CustomEnrichment,
): Promise<void> {
  const names = new Set([...extractionTasks, ...enrichmentTasks]);
  const working = STAGE_TASKS.filter(({ task }) => names.has(task));
  const sessions = working.length === 0 || data !== null ? pass.sessions : await sessionsOf(deps, pass);
  for (const { stage, nodeSet } of working) {
    if (data !== null && nodeSet !== null) await keepText(deps, pass, data, [nodeSet]);
    else await runStage(deps, { ...pass, sessions, reads: createPassReads() }, stage);
  }
  if (data !== null && working.every(({ nodeSet }) => nodeSet === null)) await keepText(deps, pass, data, []);
  if (TRIPLET_TASKS.some((task) => names.has(task))) await writeTriplets(deps, pass, pass.options.nodeNames);
}

const MAX_SESSIONS = 1000;

async function sessionsOf(deps: CustomTaskDependencies, pass: ImprovePass): Promise<readonly SessionKey[]> {
  if (pass.sessions.length > 0) return pass.sessions;
  const { principal, dataset } = pass;
  const found = await deps.sessions.ofDataset({ tenant: principal.tenant }, dataset.id, MAX_SESSIONS);
  return found.filter(({ user }) => user === principal.id).map(({ user, session }) => ({ user, session }));
}

async function runStage({ stages }: CustomTaskDependencies, pass: ImprovePass, name: StageName): Promise<void> {
  const stage = stages.find((candidate) => candidate.name === name);
  if (stage === undefined) throw engramError('CogneeSystemError', `improve: stage '${name}' is not there`);
  if (pass.sessions.length === 0 || (await stage.gate(pass)) !== null) return;
  const { status, error, run } = await stage.run(pass);
  if (status !== 'errored') return;
  const isBudget = run?.errorClass === 'LLMPaymentRequiredError';
  throw engramError(
    isBudget ? 'LLMPaymentRequiredError' : 'CogneeSystemError',
    error ?? `improve: stage '${name}' failed`,
  );
}

async function keepText(
  deps: Pick<ImproveDependencies, 'messenger'>,
  pass: ImprovePass,
  text: string,
  sets: readonly string[],
): Promise<void> {
  const print = sha256(text);
  const nodeSets = [...new Set([...sets, ...pass.options.nodeNames])];
  const key = `memify/${sets.join()}/${print}`;
  await keepDocuments(deps, pass, [{ key, name: `memify_${print.slice(0, 12)}.txt`, text, nodeSets }]);
}
