import type { DatasetIndexes } from '../../ports/dataset-indexes.ts';
import { requireOwn } from '../../rules/installation.ts';
import { createBulkWriter } from './bulk-writer.ts';
import { connectElasticsearch, type ElasticsearchConnectionOptions } from './connection.ts';
import { createElasticsearchTextIndex } from './elasticsearch-text-index.ts';
import { createElasticsearchVectorIndex } from './elasticsearch-vector-index.ts';
import { installationLayout } from './index-layout.ts';
import { createIndexPlacements } from './index-placements.ts';
import { createNames } from './names.ts';
import { createRefresher } from './refresher.ts';
import { createStoredRows, type IndexParts } from './stored-rows.ts';

export interface ElasticsearchIndexesOptions extends ElasticsearchConnectionOptions {
  /** First part of the name of every index and alias: lower-case letters, digits and hyphens. Default `engram`. */
  readonly indexPrefix?: string;
  /** Installation that owns the indexes; processes of another one are refused. Absent: not checked. */
  readonly installation?: string;
  /** Copies of each shard of a new index. Default 1; 0 for a single server. */
  readonly replicas?: number;
  /** Size of one bulk request. Default 4 MiB. */
  readonly bulkBytes?: number;
}

interface ElasticsearchIndexes extends Pick<DatasetIndexes, 'text' | 'vectors' | 'close'> {
  /** Rejects when the server does not answer. */
  check(signal?: AbortSignal): Promise<void>;
}

/**
 * Text and vectors of every dataset in Elasticsearch 8.12 and newer, without scripts and paid features. Any number of
 * processes may use the same prefix. Rejects when the server is away, too old or refuses the credentials.
 */
export async function openElasticsearchIndexes(options: ElasticsearchIndexesOptions): Promise<ElasticsearchIndexes> {
  const connection = await connectElasticsearch(options);
  const names = createNames(options.indexPrefix ?? 'engram');
  const settings = { replicas: options.replicas ?? 1 };
  const placements = createIndexPlacements(connection);
  const { installation } = options;
  if (installation !== undefined) {
    await claimPrefix({ connection, placements, names, settings }, installation).catch(async (error: unknown) => {
      await connection.close();
      throw error;
    });
  }
  const bulk = createBulkWriter(connection, options.bulkBytes);
  const rows = createStoredRows({ connection, placements, bulk, refresher: createRefresher(connection) });
  const shared = { connection, placements, rows, names, settings };
  return {
    text: createElasticsearchTextIndex(shared),
    vectors: createElasticsearchVectorIndex(shared),
    async check(signal) {
      await connection.request((client, requestOptions) => client.ping({}, requestOptions), signal);
    },
    close: () => connection.close(),
  };
}

const ID = 'installation';

/** Notes the installation as the owner of the prefix unless there is one; rejects when that is another. */
async function claimPrefix(
  { connection, placements, names, settings }: Omit<IndexParts, 'rows'>,
  installation: string,
) {
  const index = names.installation;
  await placements.ensureIndex(index, installationLayout(settings));
  const owner = await connection.request(async (client, options) => {
    const ignoreConflict = { ...options, ignore: [409] };
    await client.index({ index, id: ID, op_type: 'create', document: { installation } }, ignoreConflict);
    const { _source } = await client.get<{ readonly installation: string }>({ index, id: ID }, options);
    return _source?.installation ?? installation;
  });
  const place = { what: `The index ${index}`, setting: 'ENGRAM_ELASTICSEARCH_INDEX_PREFIX' };
  requireOwn(place, installation, owner);
}
