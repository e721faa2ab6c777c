import type { Json } from '../../common/kernel/json.ts';
import { presentQa, presentTrace } from '../../common/presenters/session-rows.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import type { DatasetOutcome, SearchRequest } from '../model.ts';
import type { RecallFinding } from '../recall/recall.ts';
import type { SessionFinding } from '../recall/session-lanes.ts';
import type { AnsweredType } from '../search-types.ts';
import { compactJson } from '../types/code/code-search.ts';
import { presentEvidence } from './evidence.ts';
import {
  presentCompletion,
  presentFoundSkill,
  presentOfferedSkill,
  presentQuery,
  presentRows,
} from './search-result.ts';

type Shape = Pick<SearchRequest, 'onlyContext' | 'explain' | 'includeReferences'>;

const KIND: Readonly<Record<AnsweredType, string>> = {
  CHUNKS: 'chunk',
  CHUNKS_LEXICAL: 'chunk',
  SUMMARIES: 'summary',
  RAG_COMPLETION: 'rag_completion',
  HYBRID_COMPLETION: 'graph_completion',
  GRAPH_COMPLETION: 'graph_completion',
  TRIPLET_COMPLETION: 'graph_completion',
  AGENTIC_COMPLETION: 'graph_completion',
  GRAPH_COMPLETION_COT: 'graph_completion',
  GRAPH_COMPLETION_CONTEXT_EXTENSION: 'graph_completion',
  GRAPH_COMPLETION_DECOMPOSITION: 'graph_completion',
  GRAPH_SUMMARY_COMPLETION: 'graph_completion',
  TEMPORAL: 'temporal',
  CODING_RULES: 'coding_rule',
  CODE: 'code',
  GRAPH_REPORT: 'unknown',
  BROAD: 'unknown',
  CYPHER: 'cypher',
  NATURAL_LANGUAGE: 'natural_language',
  SKILLS: 'skill',
};

/** Presents the results of all lanes, in lane order (search-recall.md §6.4). */
export function presentFindings(findings: readonly RecallFinding[], shape: Shape): readonly object[] {
  return findings.flatMap((finding) => {
    if (finding.lane === 'system') return [presentMarker(finding)];
    if (finding.lane === 'skills') return finding.skills.map(presentOfferedSkill);
    if (finding.lane === 'graph') {
      return presentOutcomes(finding.outcomes, shape);
    }
    return presentSessionFinding(finding, shape.explain);
  });
}

/** Presents the items of datasets in turn; rows by their rank over all datasets. */
function presentOutcomes(outcomes: readonly DatasetOutcome[], shape: Shape): readonly object[] {
  const ranked = outcomes.flatMap(({ outcome }) =>
    outcome?.kind === 'rows' && !shape.onlyContext ? outcome.rows.map(({ rank }) => rank) : [],
  );
  const items = outcomes.flatMap((outcome) => presentGraphItems(outcome, shape));
  if (outcomes.length < 2 || ranked.length !== items.length) return items;
  return items
    .map((item, at) => ({ item, rank: ranked[at] ?? 0 }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

function presentGraphItems({ dataset, outcome }: DatasetOutcome, shape: Shape): readonly object[] {
  if (outcome === null) return [];
  const common = {
    kind: KIND[outcome.type],
    search_type: outcome.type,
    dataset_id: dataset?.id ?? null,
    dataset_name: dataset?.name ?? null,
  };
  const item = (own: {
    text: string;
    systemPrompt?: string;
    score?: number;
    metadata?: object;
    raw: object;
    structured?: object;
  }) => ({
    kind: own.structured === undefined ? common.kind : 'structured',
    search_type: common.search_type,
    text: own.text,
    system_prompt: own.systemPrompt ?? null,
    score: own.score ?? null,
    dataset_id: common.dataset_id,
    dataset_name: common.dataset_name,
    metadata: own.metadata ?? {},
    raw: own.raw,
    structured: own.structured ?? null,
    source: 'graph',
  });
  if (outcome.kind === 'records') {
    if (shape.onlyContext) return [];
    const metadata = shape.explain ? { explain: presentQuery(outcome) } : {};
    return outcome.records.map((row) => item({ text: JSON.stringify(row), metadata, raw: rawValue(row) }));
  }
  if (outcome.kind === 'texts') {
    const texts = shape.onlyContext && outcome.context !== '' ? [outcome.context] : outcome.texts;
    return texts.map((text) => item({ text, raw: { value: text } }));
  }
  if (outcome.kind === 'code') {
    if (!outcome.isFound) return [];
    const text = compactJson(outcome.result);
    return [item({ text, raw: shape.onlyContext ? { value: text } : outcome.result })];
  }
  if (outcome.kind === 'skills') {
    return outcome.skills.map((found) => {
      const own = { raw: presentFoundSkill(found, dataset), score: found.distance };
      return item({ ...own, text: `${found.skill.name}: ${found.skill.description}` });
    });
  }
  if (outcome.kind === 'completion') {
    const text = shape.onlyContext ? (outcome.prompt?.user ?? outcome.context) : outcome.answer;
    if (text === null || text === '') return [];
    const isReferred = shape.includeReferences && !shape.onlyContext && text !== NOTHING_FITS;
    const nearest = text === NOTHING_FITS ? (outcome.nearest ?? []) : [];
    const metadata = {
      ...(nearest.length === 0 ? {} : { nearest }),
      ...(isReferred ? { evidence: presentEvidence(outcome, dataset) } : {}),
      ...(shape.explain ? presentCompletion(outcome) : {}),
    };
    const system = shape.onlyContext ? outcome.prompt?.system : undefined;
    const { structured } = outcome;
    if (structured) return [item({ text, metadata, raw: structured, structured })];
    return [item({ text, metadata, raw: { value: text }, ...(system === undefined ? {} : { systemPrompt: system }) })];
  }
  if (shape.onlyContext) {
    const text = outcome.rows.map(({ row }) => row.payload['text']).join('\n');
    return text === '' ? [] : [item({ text, raw: { value: text } })];
  }
  return presentRows(outcome, shape).map((object) => {
    const row = object as Readonly<Record<string, unknown>>;
    const { score, explain } = row;
    return item({
      text: String(row['text'] ?? ''),
      metadata: { ...rowMetadata(row), ...(explain === undefined ? {} : { explain }) },
      raw: object,
      ...(typeof score === 'number' ? { score } : {}),
    });
  });
}

/** Wraps a value that is not an object as `{ value }`; the entries of a list likewise. */
function rawValue(value: Json | readonly Json[]): object {
  if (Array.isArray(value)) return { value: value.map(rawValue) };
  return typeof value === 'object' && value !== null ? value : { value };
}

/** Returns the metadata of a row, without keys that have no value. */
function rowMetadata(row: Readonly<Record<string, unknown>>): object {
  const entries: readonly (readonly [string, unknown])[] = [
    ['data_id', row['document_id']],
    ['chunk_id', row['id']],
    ['chunk_index', row['chunk_index']],
    ['document_name', row['document_name']],
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== undefined));
}

function presentMarker({ notReady, threshold }: Extract<RecallFinding, { lane: 'system' }>) {
  const isFailed = notReady.status === 'build_failed';
  return {
    source: 'system',
    status: notReady.status,
    text: isFailed
      ? 'Memory could not be built: the last processing run failed. Fix the cause and run cognify again.'
      : 'Memory is warming up: nothing has been processed yet. Add data and run cognify, then ask again.',
    datapoint_count: 0,
    threshold,
    error_class: isFailed ? notReady.errorClass : null,
    error_message: isFailed ? notReady.errorMessage : null,
  };
}

/** Presents results of the session lanes with the stored fields (search-recall.md §6.4). */
function presentSessionFinding(finding: SessionFinding, explain: boolean): readonly object[] {
  const { session } = finding;
  const origin = {
    lane: finding.lane,
    session_id: session.session,
    user_id: session.user,
    dataset_id: session.dataset,
  };
  if (finding.lane === 'session_context') {
    const { guidance, profile } = finding;
    const why = explain ? { explain: { ...origin, context_ids: guidance.ids } } : {};
    return [{ source: 'session_context', content: guidance.text, context_profile: profile, ...why }];
  }
  const why = (overlap: number) => (explain ? { explain: { ...origin, overlap, unread: finding.unread } } : {});
  return finding.lane === 'session'
    ? finding.found.map(({ entry, overlap }) => ({ source: 'session', ...presentQa(entry), ...why(overlap) }))
    : finding.found.map(({ entry, overlap }) => ({ source: 'trace', ...presentTrace(entry), ...why(overlap) }));
}
