import { z } from 'zod';
import type { SummaryPayload } from '../../../common/domain/index-rows.ts';
import { meanVector, unitVector, vectorOfText, vectorText } from '../../../common/domain/vector-text.ts';
import { engramError } from '../../../common/kernel/errors.ts';
import { closedObject } from '../../../common/kernel/json.ts';
import type { Page } from '../../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import { embedAll } from '../../../common/models/embed-all.ts';
import { mapConcurrently } from '../../../common/platform/async/map-concurrently.ts';
import type { EmbedderSource } from '../../../common/ports/embedders.ts';
import type { Embedder, LanguageModel, ModelCallContext } from '../../../common/ports/models.ts';
import { activeEmbedding } from '../../../common/records/cognify/active-embedding.ts';
import { type Ledger, visible } from '../../../common/records/cognify/ledger.ts';
import type { VectorIndexVersions } from '../../../common/records/cognify/vector-index-versions.ts';
import { type ContextNode, contextNodesCollection } from '../../../common/records/improve/context-summaries.ts';
import type { DatasetReaders } from '../../../common/storage/ports/dataset-indexes.ts';
import {
  type DocumentStore,
  type Query,
  remove,
  replace,
  type Stored,
  type Write,
} from '../../../common/storage/ports/document-store.ts';
import { FENCE_RULE, fenced } from '../../../common/text/fenced.ts';
import { extractiveSummary } from './extractive-summary.ts';

export interface SummaryDependencies {
  readonly store: DocumentStore;
  readonly indexes: DatasetReaders;
  readonly ledger: Ledger;
  readonly vectorVersions: VectorIndexVersions;
  readonly embedders: EmbedderSource;
}

export interface SummaryCall {
  readonly scope: DatasetScope;
  /** Null: summaries are made of the strongest sentences. */
  readonly model: LanguageModel | null;
  readonly context: ModelCallContext;
}

/** Tokens of a summary without a model. */
const EXTRACTED = { area: 160, root: 320 } as const;
/** Nodes of one commit. */
const PAGE = 40;
const CALLS_AT_ONCE = 4;
const EMBEDDING_BATCHES = { embeddingBatchSize: 32, embeddingConcurrency: 4 };

type Node = Stored<ContextNode>;

/**
 * Writes the summaries of the nodes of a level whose children changed, and marks the nodes above them. A node without children
 * is removed. Returns how many nodes were written or removed. One model call per node.
 */
export async function writeSummaries(deps: SummaryDependencies, call: SummaryCall, level: number): Promise<number> {
  const { store } = deps;
  let touched = 0;
  for (;;) {
    call.context.signal?.throwIfAborted();
    const where = { level, isStale: true };
    const { items } = await store.find(call.scope, contextNodesCollection, {
      where,
      sort: [{ field: 'id' }],
      limit: PAGE,
    });
    if (items.length === 0) return touched;
    await writePage(deps, call, items);
    touched += items.length;
  }
}

async function writePage(deps: SummaryDependencies, call: SummaryCall, page: readonly Node[]): Promise<void> {
  const written = page.filter(({ value }) => value.children.length > 0);
  const inputs = await inputsOf(deps, call.scope, written);
  const texts = await mapConcurrently(written, CALLS_AT_ONCE, ({ value }, index) =>
    summaryOf(call, inputs[index]?.texts ?? [], value.isRoot),
  );
  const { embedder } = await activeEmbedding(deps, call.scope);
  const vectors = await embedAll(embedder, texts, call.context, EMBEDDING_BATCHES);
  const writes: Write[] = written.map(({ id, version, value }, index) => {
    const vector = vectors[index] ?? new Float32Array();
    const summary = { text: texts[index] ?? '', vector: vectorText(vector), childMean: inputs[index]?.childMean ?? '' };
    return replace(contextNodesCollection, id, { ...value, ...summary, isStale: false }, version);
  });
  for (const { id, version, value } of page) {
    if (value.children.length === 0) writes.push(remove(contextNodesCollection, id, version));
  }
  writes.push(...(await parentWrites(deps, call.scope, page)));
  await deps.store.commit(call.scope, writes);
}

async function inputsOf({ store, indexes, ledger }: SummaryDependencies, scope: DatasetScope, nodes: readonly Node[]) {
  const ofLeaves = nodes.filter(({ value }) => value.level === 0).flatMap(({ value }) => value.children);
  const ofNodes = nodes.filter(({ value }) => value.level > 0).flatMap(({ value }) => value.children);
  const rows = ofLeaves.length === 0 ? [] : await indexes.text.fetch(scope, 'summary', ofLeaves);
  const committed = await ledger.committed(scope, [...new Set(rows.map(({ item }) => item))]);
  const leafTexts = new Map(visible(rows, committed).map(({ id, payload }) => [id, (payload as SummaryPayload).text]));
  const below = new Map((await store.getMany(scope, contextNodesCollection, ofNodes)).map((node) => [node.id, node]));
  return nodes.map(({ value: { level, children } }) => {
    if (level === 0) return { texts: children.flatMap((id) => leafTexts.get(id) ?? []), childMean: '' };
    const known = children.flatMap((id) => below.get(id)?.value ?? []);
    const units = known.filter(({ vector }) => vector !== '').map(({ vector }) => unitVector(vectorOfText(vector)));
    return {
      texts: known.map(({ text }) => text).filter((text) => text !== ''),
      childMean: vectorText(meanVector(units)),
    };
  });
}

async function summaryOf({ model, context }: SummaryCall, texts: readonly string[], isRoot: boolean): Promise<string> {
  if (texts.length === 0) return '';
  if (model === null) return extractiveSummary(texts, isRoot ? EXTRACTED.root : EXTRACTED.area);
  return modelSummary(model, { texts, isRoot }, context);
}

/** Marks the parents as stale and removes the children that are removed. */
async function parentWrites({ store }: SummaryDependencies, scope: DatasetScope, page: readonly Node[]) {
  const ids = [...new Set(page.flatMap(({ value }) => value.parent ?? []))];
  const gone = new Set(page.filter(({ value }) => value.children.length === 0).map(({ id }) => id));
  return (await store.getMany(scope, contextNodesCollection, ids)).map(({ id, version, value }) => {
    const children = value.children.filter((child) => !gone.has(child));
    const isOpen = children.length < value.children.length ? children.length > 0 : value.isOpen;
    return replace(contextNodesCollection, id, { ...value, children, isOpen, isStale: true }, version);
  });
}

/** Tokens of a summary by a model (cognify-improve.md §3.14). */
const AREA_TOKENS = 300;
const ROOT_TOKENS = 500;

const SCHEMA = closedObject({ summary: { type: 'string' } });
const answer = z.object({ summary: z.string() });

/** Summarises several summaries by one model call. */
async function modelSummary(
  model: LanguageModel,
  { texts, isRoot }: { readonly texts: readonly string[]; readonly isRoot: boolean },
  context: ModelCallContext,
): Promise<string> {
  const inputs = texts.map((text, index) => `Input ${index + 1}:\n${fenced('input', text)}`).join('\n\n');
  const scope = isRoot ? 'all of a body of knowledge' : 'one area of a body of knowledge';
  const { value } = await model.structured(
    {
      system: [
        `You summarise ${scope} from summaries of its parts.`,
        'First say in one line what it is about, then the facts that matter most, with their names, numbers and dates.',
        `Use only what the inputs say, in at most ${isRoot ? ROOT_TOKENS : AREA_TOKENS} tokens.`,
        FENCE_RULE,
      ].join(' '),
      prompt: inputs,
      schema: SCHEMA,
      schemaName: 'GlobalContextSummary',
    },
    context,
  );
  const parsed = answer.safeParse(value);
  if (parsed.success && parsed.data.summary.trim() !== '') return parsed.data.summary.trim();
  throw engramError('CogneeSystemError', 'The model gave no summary.');
}

/**
 * Embeds the summaries again after the dataset's vectors moved to another embedding model, without language model calls. Level
 * by level, because the mean of a node is made from the level below.
 */
export async function renewVectors(
  { store }: { readonly store: DocumentStore },
  scope: DatasetScope,
  { embedder, context }: { readonly embedder: Embedder; readonly context: ModelCallContext },
): Promise<void> {
  for (let level = 0; ; level++) {
    let after: string | null = null;
    let isEmpty = true;
    do {
      context.signal?.throwIfAborted();
      const query: Query<ContextNode> = { where: { level }, sort: [{ field: 'id' }], limit: PAGE, after };
      const { items, next }: Page<Stored<ContextNode>> = await store.find(scope, contextNodesCollection, query);
      if (items.length > 0) isEmpty = false;
      const texts = items.map(({ value }) => value.text);
      const vectors = await embedAll(embedder, texts, context, EMBEDDING_BATCHES);
      const writes = await Promise.all(
        items.map(async ({ id, version, value }, index) => {
          const vector = value.text === '' ? '' : vectorText(vectors[index] ?? new Float32Array());
          const childMean = level === 0 ? value.childMean : await meanOf({ store }, scope, value);
          return replace(contextNodesCollection, id, { ...value, vector, childMean }, version);
        }),
      );
      if (writes.length > 0) await store.commit(scope, writes);
      after = next;
    } while (after !== null);
    if (isEmpty) return;
  }
}

async function meanOf({ store }: { readonly store: DocumentStore }, scope: DatasetScope, { children }: ContextNode) {
  const below = await store.getMany(scope, contextNodesCollection, children);
  const units = below
    .filter(({ value }) => value.vector !== '')
    .map(({ value }) => unitVector(vectorOfText(value.vector)));
  return vectorText(meanVector(units));
}
