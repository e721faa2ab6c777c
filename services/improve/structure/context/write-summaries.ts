import type { SummaryPayload } from '../../../common/domain/index-rows.ts';
import { meanVector, unitVector, vectorOfText, vectorText } from '../../../common/domain/vector-text.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import { createConcurrencyLimit } from '../../../common/platform/async/concurrency-limit.ts';
import type { EmbedderSource } from '../../../common/ports/embedders.ts';
import type { LanguageModel, ModelCallContext } from '../../../common/ports/models.ts';
import { activeEmbedding } from '../../../common/records/cognify/active-embedding.ts';
import { type Ledger, visible } from '../../../common/records/cognify/ledger.ts';
import type { VectorHomes } from '../../../common/records/cognify/vector-homes.ts';
import { type ContextNode, contextNodesCollection } from '../../../common/records/improve/context-summaries.ts';
import type { DatasetReaders } from '../../../common/storage/ports/dataset-indexes.ts';
import {
  type DocumentStore,
  remove,
  replace,
  type Stored,
  type Write,
} from '../../../common/storage/ports/document-store.ts';
import { embedAll } from '../embed-all.ts';
import { extractiveSummary } from './extractive-summary.ts';
import { modelSummary } from './model-summary.ts';

export interface SummaryDependencies {
  readonly store: DocumentStore;
  readonly indexes: Pick<DatasetReaders, 'text'>;
  readonly ledger: Pick<Ledger, 'committed'>;
  readonly homes: Pick<VectorHomes, 'active'>;
  readonly embedders: EmbedderSource;
}

export interface SummaryCall {
  readonly scope: DatasetScope;
  /** Null: the strongest sentences are taken. */
  readonly model: LanguageModel | null;
  readonly context: ModelCallContext;
}

/** Tokens of a summary; a model's may be as long as the contract allows (cognify-improve.md §3.14). */
const EXTRACTED = { area: 160, root: 320 } as const;
/** Nodes of one commit. */
const PAGE = 40;
const CALLS_AT_ONCE = 4;

type Node = Stored<ContextNode>;

/**
 * Writes anew what stands for the nodes of a level whose children changed; the nodes above them are to follow. A node that
 * has lost all of its children goes. Returns how many were written or went. One call of the model a node.
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
  const gate = createConcurrencyLimit(CALLS_AT_ONCE);
  const texts = await Promise.all(
    written.map(({ value }, index) => gate(() => summaryOf(call, inputs[index]?.texts ?? [], value.isRoot))),
  );
  const { embedder } = await activeEmbedding(deps, call.scope);
  const vectors = await embedAll(embedder, texts, call.context);
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

interface Inputs {
  readonly texts: readonly string[];
  readonly childMean: string;
}

async function inputsOf(
  { store, indexes, ledger }: SummaryDependencies,
  scope: DatasetScope,
  nodes: readonly Node[],
): Promise<readonly Inputs[]> {
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

/** The nodes above: stale, and without those that go. */
async function parentWrites(
  { store }: SummaryDependencies,
  scope: DatasetScope,
  page: readonly Node[],
): Promise<readonly Write[]> {
  const ids = [...new Set(page.flatMap(({ value }) => value.parent ?? []))];
  const gone = new Set(page.filter(({ value }) => value.children.length === 0).map(({ id }) => id));
  return (await store.getMany(scope, contextNodesCollection, ids)).map(({ id, version, value }) => {
    const children = value.children.filter((child) => !gone.has(child));
    const isOpen = children.length < value.children.length ? children.length > 0 : value.isOpen;
    return replace(contextNodesCollection, id, { ...value, children, isOpen, isStale: true }, version);
  });
}
