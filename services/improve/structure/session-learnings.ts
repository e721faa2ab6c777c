import { type ChunkPayload, RELATIONS } from '../../common/domain/index-rows.ts';
import { idOfText, nodeSetId } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import { LEARNINGS_NODE_SET } from '../learning/known-lessons.ts';

export interface SessionLearning {
  readonly id: string;
  readonly text: string;
  /** Of the passage that holds it. */
  readonly chunkId: string;
}

/** Members of one node set that are read; a session teaches a few lessons, each with some entities. */
const MAX_MEMBERS = 10_000;

/** What sessions have taught the dataset: each text once, sorted by the ids that the texts give. */
export async function sessionLearnings(
  {
    indexes,
    ledger,
  }: { readonly indexes: Pick<DatasetReaders, 'text' | 'graph'>; readonly ledger: Pick<Ledger, 'committed'> },
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
    // Ids of node sets are folded: another set may have the same.
    if (text === '' || !nodeSets.some((name) => wanted.has(name))) continue;
    const id = idOfText(`TruthLearning:${text.toLowerCase().split(/\s+/u).join(' ')}`);
    const known = learnings.get(id);
    if (known === undefined || chunkId < known.chunkId) learnings.set(id, { id, text, chunkId });
  }
  return [...learnings.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
}
