import { payerOf } from '../../common/domain/budget.ts';
import { type ChunkPayload, RELATIONS } from '../../common/domain/index-rows.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { idOfText, nodeSetId } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import { areSameSlots, truthCoordinates, withLearnings } from '../../common/ranking/truth.ts';
import { type ActiveEmbedding, activeEmbedding } from '../../common/records/cognify/active-embedding.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import {
  CHUNKS_PER_PAGE,
  isOfSpace,
  TRUTH_SLOTS,
  type TruthState,
  type TruthSubspace,
} from '../../common/records/improve/truth-state.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { LEARNINGS_NODE_SET } from '../learning/known-lessons.ts';
import { type ImprovePass, isBudgetError } from '../model.ts';
import { committedItems } from './item-changes.ts';

export interface TruthDependencies extends Pick<ImproveDependencies, 'clock'> {
  readonly indexes: DatasetReaders;
  readonly ledger: Ledger;
  readonly truth: TruthState;
  readonly vectorVersions: VectorIndexVersions;
  readonly embedders: EmbedderSource;
}

/** With the embedding in use at the start: vectors of another model cannot be compared. */
interface Truth extends TruthDependencies {
  readonly embedding: ActiveEmbedding;
}

interface TruthCounts {
  readonly anchors: number;
  readonly nodes_scored: number;
  readonly nodes_skipped: number;
  readonly truth_epoch: number;
}

interface BuiltTruth {
  readonly counts: TruthCounts;
  /** Nothing was written. */
  readonly isUnchanged: boolean;
}

const NOTHING: TruthCounts = { anchors: 0, nodes_scored: 0, nodes_skipped: 0, truth_epoch: 0 };
/** Texts of one embedder call (cognify-improve.md §3.12). */
const BATCH = 64;

/**
 * Updates the centroids to the learnings of the sessions, and the coordinates of every passage to the centroids. While the
 * centroids stay the same only new passages are scored; all scored ones are counted. Passages are written first: the last commit
 * puts the epoch into force. One page of passages is in memory at a time.
 */
export async function buildTruthSubspace(given: TruthDependencies, pass: ImprovePass): Promise<BuiltTruth> {
  const scope = scopeOf(pass.dataset);
  const { signal } = pass;
  const context: ModelCallContext = { scope, purpose: 'extraction', payer: payerOf(pass.principal), signal };
  const ids = pass.sessions.map(({ session }) => session);
  const learnings = await sessionLearnings(given, scope, ids);
  if (learnings.length === 0) return { counts: NOTHING, isUnchanged: true };
  const deps: Truth = { ...given, embedding: await pass.reads.once('embedding', () => activeEmbedding(given, scope)) };
  const before = await usableSubspace(deps, scope);
  const slots = withLearnings(before.slots, await embedded(deps, learnings, context), TRUTH_SLOTS);
  const isSame = areSameSlots(before.slots, slots);
  const { model } = deps.embedding.embedder.space;
  const subspace = { epoch: isSame ? before.epoch : before.epoch + 1, slots, model };
  const { written, ...scored } = await scoreAll(deps, scope, { subspace, isSame, context, reads: pass.reads });
  signal.throwIfAborted();
  if (!isSame) await deps.truth.keepSubspace(scope, subspace, deps.clock.now());
  const counts = { anchors: slots.length, ...scored, truth_epoch: subspace.epoch };
  return { counts, isUnchanged: isSame && written === 0 };
}

/** Reads the subspace; without centroids when they are of another embedder. The epochs continue. */
async function usableSubspace({ truth, embedding }: Truth, scope: DatasetScope): Promise<TruthSubspace> {
  const { epoch, slots, model } = await truth.subspace(scope);
  const isUsable = isOfSpace({ slots, model }, embedding.embedder.space);
  return { epoch, slots: isUsable ? slots : [], model };
}

async function embedded(deps: Truth, learnings: readonly SessionLearning[], context: ModelCallContext) {
  const chunks = learnings.map(({ chunkId, text }) => ({ id: chunkId, text }));
  const vectors = await vectorsOf(deps, chunks, context);
  return learnings.flatMap(({ id, chunkId }) => {
    const vector = vectors.get(chunkId);
    if (vector === undefined) throw engramError('CogneeSystemError', 'learning embedding failed');
    return [{ id, vector }];
  });
}

/** Returns the vectors of passages by id: stored ones, else embedded again. Those that fail are left out. */
async function vectorsOf(
  { indexes, embedding }: Truth,
  chunks: readonly { readonly id: string; readonly text: string }[],
  context: ModelCallContext,
): Promise<ReadonlyMap<string, Float32Array>> {
  const { embedder } = embedding;
  const { dimensions } = embedder.space;
  const stored = await indexes.vectors.fetch(
    embedding.scope,
    'chunk',
    chunks.map(({ id }) => id),
  );
  const vectors = new Map<string, Float32Array>();
  // The same id means the same text in every generation.
  for (const { id, vector } of stored) if (vector.length === dimensions) vectors.set(id, vector);
  const missing = chunks.filter(({ id }) => !vectors.has(id));
  for (const batch of slices(missing, BATCH)) {
    try {
      const made = await embedder.embed(
        batch.map(({ text }) => text),
        context,
      );
      for (const [at, { id }] of batch.entries()) vectors.set(id, made[at] ?? new Float32Array(dimensions));
    } catch (error) {
      context.signal?.throwIfAborted();
      if (isBudgetError(error)) throw error;
    }
  }
  return vectors;
}

interface Scoring {
  readonly subspace: TruthSubspace;
  /** The centroids did not change: passages that are already scored keep their coordinates. */
  readonly isSame: boolean;
  readonly context: ModelCallContext;
  readonly reads: ImprovePass['reads'];
}

async function scoreAll(deps: Truth, scope: DatasetScope, scoring: Scoring) {
  const { epoch } = scoring.subspace;
  const [committed, pages] = await Promise.all([committedItems(deps, scope, scoring.reads), deps.truth.pages(scope)]);
  const gone = new Set([...pages.values()].map(({ item }) => item).filter((item) => !committed.has(item)));
  for (const item of gone) await deps.truth.forgetItem(scope, item);
  let scored = 0;
  let skipped = 0;
  let written = gone.size;
  for (const [item, generation] of [...committed].sort(([left], [right]) => (left < right ? -1 : 1))) {
    for (let page = 0; ; page++) {
      scoring.context.signal?.throwIfAborted();
      const known = scoring.isSame ? pages.get(`${item}/${page}`) : undefined;
      if (known?.generation === generation && known.epoch === epoch && known.scored === known.total) {
        scored += known.scored;
        if (known.total < CHUNKS_PER_PAGE) break;
        continue;
      }
      const rows = await pageOf(deps, scope, { item, generation }, page);
      if (rows.length > 0) {
        const kept = await scorePage(deps, scope, { rows, page, origin: { item, generation } }, scoring);
        written += 1;
        scored += kept;
        skipped += rows.length - kept;
      }
      if (rows.length < CHUNKS_PER_PAGE) break;
    }
  }
  if (scored === 0 && skipped > 0) throw engramError('CogneeSystemError', 'no node embeddings available');
  return { nodes_scored: scored, nodes_skipped: skipped, written };
}

async function pageOf({ indexes }: TruthDependencies, scope: DatasetScope, provenance: Provenance, page: number) {
  const after = page === 0 ? {} : { after: page * CHUNKS_PER_PAGE - 1 };
  return indexes.text.list(scope, { kind: 'chunk', provenance, limit: CHUNKS_PER_PAGE, ...after });
}

/** Returns how many of the rows have coordinates now. */
async function scorePage(
  deps: Truth,
  scope: DatasetScope,
  { rows, page, origin }: { readonly rows: readonly TextRow[]; readonly page: number; readonly origin: Provenance },
  { subspace, context }: Scoring,
): Promise<number> {
  const chunks = rows.map(({ id, payload }) => ({ id, text: (payload as ChunkPayload).text }));
  const vectors = await vectorsOf(deps, chunks, context);
  const known = chunks.filter(({ id }) => vectors.has(id));
  if (known.length === 0) return 0;
  const coordinates = new Float32Array(known.length * TRUTH_SLOTS);
  for (const [at, { id }] of known.entries()) {
    const vector = vectors.get(id) ?? new Float32Array();
    coordinates.set(truthCoordinates(vector, subspace.slots, TRUTH_SLOTS), at * TRUTH_SLOTS);
  }
  const { epoch } = subspace;
  const kept = { chunks: known.map(({ id }) => id), coordinates };
  await deps.truth.keepCoordinates(scope, [{ ...origin, page, epoch, total: rows.length, ...kept }]);
  return known.length;
}

interface SessionLearning {
  readonly id: string;
  readonly text: string;
  /** Id of the passage that contains it. */
  readonly chunkId: string;
}

/** Members of one node set that are read; a session has a few lessons, each with some entities. */
const MAX_MEMBERS = 10_000;

/** Returns the learnings of sessions in the dataset: each text once, sorted by ids made from the texts. */
async function sessionLearnings(
  { indexes, ledger }: { readonly indexes: DatasetReaders; readonly ledger: Ledger },
  scope: DatasetScope,
  sessions: readonly string[],
): Promise<readonly SessionLearning[]> {
  const sets = [...new Set(sessions)].map((session) => `${LEARNINGS_NODE_SET}:${session}`);
  if (sets.length === 0) return [];
  const members = await indexes.graph.neighbours(scope, sets.map(nodeSetId), {
    relations: [RELATIONS.belongsToSet],
    direction: 'in',
    limitPerNode: MAX_MEMBERS,
    withProperties: false,
  });
  const ids = [...new Set(members.map(({ source }) => source))];
  const rows = await indexes.text.fetch(scope, 'chunk', ids);
  const committed = await ledger.committed(scope, [...new Set(rows.map(({ item }) => item))]);
  const learnings = new Map<string, SessionLearning>();
  const wanted = new Set(sets);
  for (const { id: chunkId, payload, nodeSets } of visible(rows, committed)) {
    const text = (payload as ChunkPayload).text.trim();
    // Ids of node sets are case-folded, so another set may have the same id.
    if (text === '' || !nodeSets.some((name) => wanted.has(name))) continue;
    const id = idOfText(`TruthLearning:${text.toLowerCase().split(/\s+/u).join(' ')}`);
    const known = learnings.get(id);
    if (known === undefined || chunkId < known.chunkId) learnings.set(id, { id, text, chunkId });
  }
  return [...learnings.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
}
