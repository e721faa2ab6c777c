import { requireOwn } from '../../rules/installation.ts';
import type { ElasticsearchConnection } from './connection.ts';
import type { Homes } from './homes.ts';
import { type IndexSettings, installationLayout } from './index-layout.ts';
import type { ElasticsearchNames } from './names.ts';

const ID = 'installation';

/** Notes the installation as the owner of the prefix unless there is one; rejects when that is another. */
export async function claimPrefix(
  { connection, homes, names, settings }: ClaimParts,
  installation: string,
): Promise<void> {
  const index = names.installation;
  await homes.ensureIndex(index, installationLayout(settings));
  const owner = await connection.request(async (client, options) => {
    const ignoreConflict = { ...options, ignore: [409] };
    await client.index({ index, id: ID, op_type: 'create', document: { installation } }, ignoreConflict);
    const { _source } = await client.get<{ readonly installation: string }>({ index, id: ID }, options);
    return _source?.installation ?? installation;
  });
  const place = { what: `The index ${index}`, setting: 'ENGRAM_ELASTICSEARCH_INDEX_PREFIX' };
  requireOwn(place, installation, owner);
}

interface ClaimParts {
  readonly connection: ElasticsearchConnection;
  readonly homes: Homes;
  readonly names: ElasticsearchNames;
  readonly settings: IndexSettings;
}
