import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { type SearchDependencies, type SearchParts, withModels } from '../dependencies.ts';
import { recordSearch } from '../history.ts';
import type { AnswerListener, DatasetOutcome, FoundSkill, SearchRequest } from '../model.ts';
import { readableDatasets, searchDatasets } from '../search-datasets.ts';
import type { AnsweredType, SearchType } from '../search-types.ts';
import { answerTurn } from '../turn.ts';
import { chooseType, routedType } from '../types/choose-type.ts';
import { readCodeAnswer } from '../types/code/code-question.ts';
import { isUnresolved } from '../types/code/code-search.ts';
import { suggestedSkills } from '../types/skills.ts';
import { type LanePlan, planLanes, type RecallLane } from './lane-plan.ts';
import type { NotReady } from './readiness.ts';
import { createSessionLanes, SESSION_LANES, type SessionFinding, type SessionLane } from './session-lanes.ts';

export interface RecallRequest extends Omit<SearchRequest, 'type'> {
  /** Null: chosen by `routedType`. */
  readonly type: SearchType | null;
  readonly scope: readonly string[] | null;
  readonly toolsTrigger: string;
  /** Profile of the guidance that the session_context lane returns. */
  readonly contextProfile: string;
}

/** A result of one recall lane. */
export type RecallFinding =
  | GraphFinding
  | { readonly lane: 'system'; readonly notReady: NotReady; readonly threshold: number }
  | { readonly lane: 'skills'; readonly skills: readonly FoundSkill[] }
  | SessionFinding;

interface GraphFinding {
  readonly lane: 'graph';
  readonly type: AnsweredType;
  readonly outcomes: readonly DatasetOutcome[];
}

/** Receives the progress of a streamed recall. */
export interface RecallListener extends AnswerListener {
  retrieving(): void;
}

export async function recall(
  parts: SearchParts,
  request: RecallRequest,
  listener?: RecallListener,
): Promise<readonly RecallFinding[]> {
  const { lanes, sessionFirst } = planOf(request);
  const deps = await withModels(parts, request.principal);
  const sessionLanes = createSessionLanes(deps, request);
  const findings: RecallFinding[] = [];
  let noData: unknown = null;
  for (const lane of lanes) {
    if (sessionFirst && findings.some((finding) => finding.lane === 'session')) break;
    if (isSessionLane(lane)) {
      findings.push(...(await sessionLanes.search(lane)));
      continue;
    }
    if (lane === 'code') findings.push(...(await codeLane(deps, request)));
    if (lane !== 'graph') continue;
    try {
      findings.push(...(await graphLane(deps, request, { lanes, listener })));
    } catch (error) {
      if (!isEngramError(error) || error.wireName !== 'NoDataError') throw error;
      noData = error;
    }
  }
  // Session entries are returned even when no memory was built yet.
  if (noData !== null && findings.length === 0) throw noData;
  // A stream has at least one stage; the graph lane emits its own after its checks have passed.
  if (findings.every(({ lane }) => lane !== 'graph')) listener?.retrieving();
  return findings;
}

function isSessionLane(lane: RecallLane): lane is SessionLane {
  return (SESSION_LANES as readonly string[]).includes(lane);
}

function planOf(request: RecallRequest): LanePlan {
  if (request.toolsTrigger !== 'always' && request.toolsTrigger !== 'on_empty') {
    throw engramError('InvalidToolsTriggerError', "tools_trigger must be 'always' or 'on_empty'.");
  }
  const { ids = [], names = [] } = request.datasets;
  const plan = planLanes(request.scope, {
    hasSession: request.sessionId !== null,
    hasDatasets: ids.length + names.length > 0,
    hasType: request.type !== null,
  });
  if (request.codeQuery && !plan.lanes.includes('code')) {
    throw engramError('InvalidCodeQueryError', 'code_query needs the recall scope code.');
  }
  if (plan.lanes.includes('tools')) {
    const text = 'The recall scope tools is not supported: this server calls no tools. Leave the scope out.';
    throw engramError('ToolCallsDisabledError', text);
  }
  return plan;
}

async function graphLane(
  deps: SearchDependencies,
  request: RecallRequest,
  { lanes, listener }: { readonly lanes: readonly RecallLane[]; readonly listener: RecallListener | undefined },
): Promise<readonly RecallFinding[]> {
  const askedAt = deps.clock.now();
  const datasets = await readableDatasets(deps, request);
  const offered = await offeredFindings(deps, request, datasets);
  // Skills need no built memory.
  if (!request.onlyContext && request.type !== 'SKILLS') {
    const notReady = await deps.readiness.check(datasets, request.context);
    if (notReady !== null) {
      const threshold = deps.settings.recallWarmupThreshold;
      return lanes.length === 1 ? [{ lane: 'system', notReady, threshold }, ...offered] : offered;
    }
  }
  const type =
    request.type === null
      ? routedType(request.query, {
          answers: deps.languageModel !== null || (await isAnsweredByCode(deps, request, datasets)),
          inSchema: request.responseSchema !== null,
        })
      : await chooseType(deps, { ...request, type: request.type }, datasets);
  // Of several datasets one answers, except with agents: the pieces of concurrent answers would interleave.
  const isStreamed = listener !== undefined && (datasets.length === 1 || type !== 'AGENTIC_COMPLETION');
  const omitWeak = request.type === null && type === 'CHUNKS';
  const search: SearchRequest = {
    ...request,
    type,
    omitWeak,
    ...(isStreamed ? { listener } : {}),
  };
  listener?.retrieving();
  let ran = type;
  let turn = await answerTurn(deps, search, { type, datasets });
  if (request.type === null && !turn.outcomes.some(hasRows)) {
    ran = 'HYBRID_COMPLETION';
    turn = await answerTurn(deps, search, { type: ran, datasets });
  }
  const { outcomes, save } = turn;
  await Promise.all([recordSearch(deps, search, { type: ran, outcomes, askedAt }), save()]);
  return [{ lane: 'graph', type: ran, outcomes }, ...offered];
}

async function isAnsweredByCode(deps: SearchDependencies, request: RecallRequest, datasets: readonly DatasetRef[]) {
  const answers = await Promise.all(datasets.map((dataset) => readCodeAnswer(deps, request, dataset)));
  return answers.some((answer) => answer !== null);
}

/** Searches the code; what is not there contributes nothing. */
async function codeLane(deps: SearchDependencies, request: RecallRequest): Promise<readonly RecallFinding[]> {
  const askedAt = deps.clock.now();
  const datasets = await readableDatasets(deps, request);
  try {
    const outcomes = await searchDatasets(deps, { ...request, type: 'CODE' }, { type: 'CODE', datasets });
    await recordSearch(deps, { ...request, type: 'CODE' }, { type: 'CODE', outcomes, askedAt });
    return [{ lane: 'graph', type: 'CODE', outcomes }];
  } catch (error) {
    if (!isUnresolved(error)) throw error;
    return [];
  }
}

/** Whether an outcome has anything; completions say so themselves when they have nothing. */
function hasRows({ outcome }: DatasetOutcome): boolean {
  if (outcome?.kind === 'rows' && outcome.type === 'CHUNKS_LEXICAL') return outcome.rows.length > 0;
  return outcome?.kind !== 'texts' || outcome.texts.length > 0;
}

/** Returns skills for a query that asks for one in a single dataset (search-recall.md §6.3). */
async function offeredFindings(
  deps: SearchDependencies,
  request: RecallRequest,
  datasets: readonly DatasetRef[],
): Promise<readonly RecallFinding[]> {
  const [dataset, ...others] = datasets;
  if (request.onlyContext || request.type === 'SKILLS' || dataset === undefined || others.length > 0) return [];
  const skills = await suggestedSkills(deps, dataset, request.query);
  return skills.length === 0 ? [] : [{ lane: 'skills', skills }];
}
