import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataItemId, DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import type { DatasetScope } from '../../services/common/kernel/scope.ts';
import {
  createSqliteDatasetIndexes,
  type SqliteDatasetIndexesOptions,
} from '../../services/common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import type { EdgeEvidence, NodeEvidence } from '../../services/common/storage/ports/graph-store.ts';
import type { TextEntry } from '../../services/common/storage/ports/text-index.ts';
import type { VectorEntry } from '../../services/common/storage/ports/vector-index.ts';

/** Indexes on a directory of their own, which `close` removes. */
export async function openTemporaryIndexes(
  options: Omit<SqliteDatasetIndexesOptions, 'directory'> = {},
): Promise<DatasetIndexes & { readonly directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'engram-indexes-'));
  const indexes = await createSqliteDatasetIndexes({ directory, ...options });
  return {
    ...indexes,
    directory,
    async close() {
      await indexes.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Fresh scopes, so that tests share a store without meeting. */
export function createScopes(): (dataset?: string, tenant?: string) => DatasetScope {
  let last = 0;
  return (dataset = `dataset-${++last}`, tenant = 'tenant') => ({
    tenant: tenant as TenantId,
    dataset: dataset as DatasetId,
  });
}

/** Ids are kept as they are, unlike `asId`: stores must not depend on their form. */
export function item(name: string): DataItemId {
  return name as DataItemId;
}

export function textEntry(id: string, tokens: string, more: Partial<TextEntry> = {}): TextEntry {
  return {
    kind: 'chunk',
    id,
    item: item('item'),
    generation: 1,
    tokens,
    ordinal: 0,
    nodeSets: [],
    payload: { text: tokens },
    ...more,
  };
}

export function vectorEntry(id: string, vector: readonly number[], more: Partial<VectorEntry> = {}): VectorEntry {
  return {
    kind: 'chunk',
    id,
    item: item('item'),
    generation: 1,
    nodeSets: [],
    vector: Float32Array.from(vector),
    ...more,
  };
}

export function node(id: string, more: Partial<NodeEvidence> = {}): NodeEvidence {
  return {
    id,
    item: item('item'),
    generation: 1,
    type: 'Entity',
    name: `name of ${id}`,
    mentions: 1,
    nodeSets: [],
    properties: {},
    ...more,
  };
}

export function edge(source: string, target: string, more: Partial<EdgeEvidence> = {}): EdgeEvidence {
  return {
    source,
    target,
    relation: 'knows',
    item: item('item'),
    generation: 1,
    weight: 1,
    properties: { text: `${source} knows ${target}` },
    ...more,
  };
}

/** Ids that trouble file names, SQL, JSON and URLs. */
export const HOSTILE_IDS = [
  '',
  '.',
  '..',
  '../../etc/passwd',
  'a/b',
  'a\\b',
  "o'hara; DROP TABLE x; --",
  '"quoted"',
  'naïve',
  'NAÏVE',
  '日本語',
  '👩‍👩‍👧',
  'a b\tc\nd',
  '%',
  '_',
  'x'.repeat(5000),
];
