import { randomBytes } from 'node:crypto';
import { Client } from '@elastic/elasticsearch';
import {
  type ElasticsearchIndexesOptions,
  openElasticsearchIndexes,
} from '../../../services/common/storage/indexes/elasticsearch/elasticsearch-indexes.ts';
import type { DatasetIndexes } from '../../../services/common/storage/ports/dataset-indexes.ts';
import { createMemoryDatasetIndexes } from '../../support/memory/dataset-indexes.ts';

/** A prefix that no other run uses. */
export function freshPrefix(): string {
  return `t-${randomBytes(5).toString('hex')}`;
}

/** Indexes under a prefix of their own, which `close` removes; the graph is in memory. */
export async function openTestIndexes(
  options: ElasticsearchIndexesOptions & { readonly indexPrefix: string },
): Promise<DatasetIndexes> {
  const indexes = await openElasticsearchIndexes({ replicas: 0, ...options });
  return {
    ...createMemoryDatasetIndexes(),
    text: indexes.text,
    vectors: indexes.vectors,
    async close() {
      await indexes.close();
      await removeIndexes(options.url, options.indexPrefix);
    },
  };
}

export async function removeIndexes(url: string, prefix: string): Promise<void> {
  const client = new Client({ node: url });
  // The server refuses to delete by pattern.
  const found = await client.indices.get({ index: `${prefix}-*` });
  for (const index of Object.keys(found)) await client.indices.delete({ index });
  await client.close();
}
