import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { keptByText } from '../../common/kernel/recently-used.ts';
import {
  type ContextSummary,
  contextState,
  readGlobalContext,
} from '../../common/records/improve/context-summaries.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import type { WeightingTarget } from '../retrieval/truth-weighting.ts';
import type { Fact, Knowledge, KnownEntity } from './knowledge.ts';
import { labelOfPassage } from './source-label.ts';

/** Maximum characters of the context of an answer: about 12,000 tokens. */
const CONTEXT_BUDGET = 48_000;

/**
 * Returns the passages that fit the budget, best first; the first one always, cut when it alone is too long. The rank
 * order stays, because readers and models weigh the beginning most.
 */
export function packPassages(
  passages: readonly RankedPassage[],
  budget: number = CONTEXT_BUDGET,
): readonly RankedPassage[] {
  const packed: RankedPassage[] = [];
  let used = 0;
  for (const passage of passages) {
    const size = passage.payload.text.length;
    if (used + size > budget && packed.length > 0) continue;
    packed.push(size > budget ? cut(passage, budget) : passage);
    used += size;
  }
  return packed;
}

function cut(passage: RankedPassage, length: number): RankedPassage {
  return { ...passage, payload: { ...passage.payload, text: passage.payload.text.slice(0, length) } };
}

/** Returns the context of RAG_COMPLETION: the texts, best first. */
export function plainContext(passages: readonly RankedPassage[]): string {
  return passages.map((passage) => passage.payload.text).join('\n');
}

/** Returns the context of HYBRID_COMPLETION: passages, entities with their facts, further facts (search-recall.md §3.2). */
export function sectionedContext(passages: readonly RankedPassage[], knowledge: Knowledge): string {
  const shown = new Set<string>();
  const entities = knowledge.entities.map((entity) => entitySection(entity, knowledge.facts, shown));
  const rest = knowledge.facts.filter((fact) => !shown.has(fact.text)).map((fact) => fact.text);
  return [
    section(
      'Relevant passages',
      passages.map((passage) => passage.payload.text),
      '\n---\n',
    ),
    section('Relevant entities', entities, '\n\n'),
    section(
      'Related facts',
      [...new Set(rest)].map((text) => `- ${text}`),
      '\n',
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const BULLETS_PER_ENTITY = 10;

function entitySection(entity: KnownEntity, facts: readonly Fact[], shown: Set<string>): string {
  const texts = facts
    .filter((fact) => fact.source.id === entity.id || fact.target.id === entity.id)
    .map((fact) => fact.text);
  const bullets = [...new Set(texts)].slice(0, BULLETS_PER_ENTITY);
  for (const text of bullets) shown.add(text);
  return [`### ${entity.name} (${entity.type})`, ...bullets.map((text) => `- ${text}`)].join('\n');
}

function section(title: string, parts: readonly string[], separator: string): string {
  return parts.length === 0 ? '' : `## ${title}\n${parts.join(separator)}`;
}

/** An edge of the graph context. */
interface Connection {
  readonly source: ContextNode;
  readonly target: ContextNode;
  readonly relation: string;
  readonly text: string | null;
}

interface ContextNode {
  readonly id: string;
  readonly name: string;
  readonly content: string;
}

/**
 * Returns the context of GRAPH_COMPLETION: nodes and connections of each passage with its key entity, and of the facts
 * (search-recall.md §3.0).
 */
export function graphContext(passages: readonly RankedPassage[], knowledge: Knowledge): string {
  const entities = new Map(knowledge.entities.map((entity) => [entity.id, entityNode(entity)]));
  const connections: Connection[] = [];
  for (const passage of passages) {
    const key = entities.get(knowledge.keyEntity.get(passage.id) ?? '');
    const target = key ?? { id: passage.payload.documentId, name: labelOfPassage(passage.payload), content: '' };
    const relation = key === undefined ? 'is_part_of' : 'contains';
    connections.push({ source: passageNode(passage), target, relation, text: null });
    for (const fact of knowledge.facts.filter((candidate) => candidate.chunkId === passage.id)) {
      connections.push(factConnection(fact));
    }
  }
  const shown = new Set(passages.map((passage) => passage.id));
  const others = knowledge.facts.filter((fact) => fact.chunkId === null || !shown.has(fact.chunkId));
  connections.push(...others.map(factConnection));
  return renderGraph(connections);
}

function renderGraph(connections: readonly Connection[]): string {
  if (connections.length === 0) return '';
  const nodes = new Map<string, ContextNode>();
  for (const { source, target } of connections) {
    for (const node of [source, target]) if (!nodes.has(node.id)) nodes.set(node.id, node);
  }
  const blocks = [...nodes.values()].map(
    ({ name, content }) =>
      `Node: ${name}\n__node_content_start__\n${content === '' ? name : content}\n__node_content_end__\n`,
  );
  const lines = connections.map(({ source, target, relation, text }) => {
    const detail = text === null || text === relation ? '' : `  (${text})`;
    return `${source.name} --[${relation}]--> ${target.name}${detail}`;
  });
  return `Nodes:\n${blocks.join('\n')}\n\nConnections:\n${lines.join('\n')}`;
}

function factConnection(fact: Fact): Connection {
  return {
    source: entityNode(fact.source),
    target: entityNode(fact.target),
    relation: fact.relation,
    text: fact.text,
  };
}

function entityNode(entity: KnownEntity): ContextNode {
  return { id: entity.id, name: entity.name, content: entity.description };
}

function passageNode(passage: RankedPassage): ContextNode {
  return { id: passage.id, name: titleOf(passage.payload.text), content: passage.payload.text };
}

const TITLE_WORDS = 7;
const TITLE_KEYWORDS = 3;
const TITLE_STOP_WORDS = new Set(
  `a an the and or but is are was were in on at to for with by about of from as that this these those it its them they
  their he she his her him we our you your not be been being have has had do does did can could will would shall should
  may might must when where which who whom whose why how`.split(/\s+/u),
);

const CACHED_TITLES = 1000;
const LONGEST_TITLED = 8000;

/** Returns the title of a passage on the wire: its first words and its most frequent ones. */
export const titleOf = keptByText(
  CACHED_TITLES,
  (text): string => {
    const words = text.trim().split(/\s+/u);
    const counts = new Map<string, number>();
    for (const raw of words) {
      const word = raw
        .toLowerCase()
        .replace(/^[!-/:-@[-`{-~]+/, '')
        .replace(/[!-/:-@[-`{-~]+$/, '');
      if (word !== '' && !TITLE_STOP_WORDS.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    // The sort is stable: among equals the first occurrence comes first.
    const frequent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, TITLE_KEYWORDS);
    return `${words.slice(0, TITLE_WORDS).join(' ')}... [${frequent.map(([word]) => word).join(', ')}]`;
  },
  LONGEST_TITLED,
);

const AREAS = 3;

/** Returns summaries for types that show the graph; none when not requested, or improve has written none. */
export async function globalContextFor(
  { store }: { readonly store: DocumentStore },
  request: Pick<SearchRequest, 'structure'>,
  { type, dataset, vector }: WeightingTarget,
): Promise<readonly ContextSummary[]> {
  if (request.structure?.globalContext !== true || type === 'RAG_COMPLETION') return [];
  const scope = scopeOf(dataset);
  if (scope.withheld !== undefined) throw summariesWithheld(dataset);
  const { model } = (await contextState(store, scope)).value;
  // After a change of the embedding model they are not comparable until improve has rebuilt their vectors.
  const isComparable = vector !== null && (model === undefined || model === vector.space.model);
  return readGlobalContext(store, scope, { vector: isComparable ? vector.values : null, areas: AREAS });
}

/** They are made of all items of the dataset together. */
function summariesWithheld({ name }: DatasetRef) {
  return engramError(
    'PermissionDeniedError',
    `The source of dataset '${name}' does not let you see some of its items, which its summaries are made of too. ` +
      'Search without useGlobalContext.',
  );
}

/** Puts the summaries before a context that is not empty. */
export function withGlobalContext(context: string, summaries: readonly ContextSummary[]): string {
  if (context === '' || summaries.length === 0) return context;
  const texts = new Set(summaries.map(({ text }) => text));
  return `## Global context\n${[...texts].join('\n\n')}\n\n${context}`;
}
