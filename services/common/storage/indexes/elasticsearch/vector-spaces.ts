import type { DatasetScope } from '../../../kernel/scope.ts';
import type { VectorSpace } from '../../ports/vector-index.ts';
import type { ElasticsearchConnection } from './connection.ts';
import { isMissing } from './elasticsearch-errors.ts';
import { type IndexSettings, spacesLayout } from './index-layout.ts';
import type { IndexPlacements } from './index-placements.ts';
import { type ElasticsearchNames, spaceId } from './names.ts';

/** Embedding space of each dataset: a document per dataset, read by id, so that every process sees the same. */
type VectorSpaces = ReturnType<typeof createVectorSpaces>;

/** Cache of spaces: valid until another process drops the dataset, which its alias shows. */
export interface KnownSpaces {
  /** From the cache, else from the store. */
  get(scope: DatasetScope): Promise<VectorSpace | null>;
  /** From the store. */
  reload(scope: DatasetScope): Promise<VectorSpace | null>;
  remember(scope: DatasetScope, space: VectorSpace | null): VectorSpace | null;
}

/** Datasets whose space is remembered. */
const MAX_KNOWN = 20_000;

export function createKnownSpaces(spaces: VectorSpaces): KnownSpaces {
  const remembered = new Map<string, VectorSpace>();
  const remember: KnownSpaces['remember'] = (scope, space) => {
    if (remembered.size >= MAX_KNOWN) remembered.clear();
    if (space === null) remembered.delete(spaceId(scope));
    else remembered.set(spaceId(scope), space);
    return space;
  };
  const reload = async (scope: DatasetScope) => remember(scope, await spaces.read(scope));
  return { get: async (scope) => remembered.get(spaceId(scope)) ?? (await reload(scope)), reload, remember };
}

export function createVectorSpaces(dependencies: {
  readonly connection: ElasticsearchConnection;
  readonly placements: IndexPlacements;
  readonly names: ElasticsearchNames;
  readonly settings: IndexSettings;
}) {
  const { connection, placements, names, settings } = dependencies;
  const index = names.spaces;
  const layout = spacesLayout(settings);
  const read = async (scope: DatasetScope): Promise<VectorSpace | null> => {
    try {
      const { _source } = await connection.request((client, options) =>
        client.get<VectorSpace>({ index, id: spaceId(scope) }, options),
      );
      return _source === undefined ? null : { model: _source.model, dimensions: _source.dimensions };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };
  return {
    read,
    /** Stores `space` unless there is one; resolves to the one that holds. Of two writers at once one wins. */
    async settle(scope: DatasetScope, space: VectorSpace) {
      await placements.ensureIndex(index, layout);
      const { tenant, dataset } = scope;
      const document = { tenant, dataset, model: space.model, dimensions: space.dimensions };
      await connection.request(async (client, options) => {
        const ignoreConflict = { ...options, ignore: [409] };
        await client.index({ index, id: spaceId(scope), op_type: 'create', document }, ignoreConflict);
      });
      return (await read(scope)) ?? space;
    },
    async remove(scope: DatasetScope) {
      await connection.request((client, options) =>
        client.delete({ index, id: spaceId(scope) }, { ...options, ignore: [404] }),
      );
    },
  };
}
