import { errors } from '@elastic/elasticsearch';
import { engramError } from '../../../kernel/errors.ts';
import { nullIf } from '../../../platform/async/null-if.ts';
import type { ElasticsearchConnection } from './connection.ts';
import { errorType, isMissing } from './elasticsearch-errors.ts';
import type { Query } from './filters.ts';
import { type IndexLayout, misfit } from './index-layout.ts';

/** Where rows of a dataset stand: an index, and the alias that shows nothing but the dataset. */
export interface IndexPlacement {
  readonly index: string;
  readonly layout: IndexLayout;
  readonly alias: string;
  readonly filter: Query;
  readonly routing: string;
}

export type IndexPlacements = ReturnType<typeof createIndexPlacements>;

/** Names that are remembered to exist; beyond that all are looked up again. */
const MAX_KNOWN = 20_000;

export function createIndexPlacements(connection: ElasticsearchConnection) {
  const { known, once } = createOnce();
  const ensureIndex = (index: string, layout: IndexLayout) => once(index, () => makeIndex(connection, index, layout));
  return {
    /** Makes an index that has no alias. */
    ensureIndex,
    /** Makes index and alias unless they are known to be there. */
    async ensure(placement: IndexPlacement) {
      const { index, alias, filter, routing, layout } = placement;
      const addAlias = () =>
        connection.request((client, options) =>
          client.indices.putAlias({ index, name: alias, filter, routing }, options),
        );
      await once(alias, async () => {
        await ensureIndex(index, layout);
        try {
          await addAlias();
        } catch (error) {
          if (!isMissing(error)) throw error;
          // Another process has dropped the last dataset, and the index with it.
          known.delete(index);
          await ensureIndex(index, layout);
          await addAlias();
        }
      });
    },
    /** After a write that found no alias: the next `ensure` looks again. */
    forget({ index, alias }: IndexPlacement) {
      known.delete(alias);
      known.delete(index);
    },
    /** Takes aliases away; both names may be patterns. */
    async removeAliases(index: string, alias: string) {
      await nullIf(
        isMissing,
        connection.request((client, options) => client.indices.deleteAlias({ index, name: alias }, options)),
      );
    },
    /** Deletes the index if no dataset has rows in it. Safe beside writers: acknowledged rows stay. */
    async deleteIfEmpty(index: string) {
      await nullIf(isMissing, deleteEmptyIndex(connection, index));
    },
  };
}

/** Makes each name once at a time, and not again while it is known. */
function createOnce() {
  const known = new Set<string>();
  const pending = new Map<string, Promise<void>>();
  const once = (name: string, make: () => Promise<void>): Promise<void> => {
    if (known.has(name)) return Promise.resolve();
    const running = pending.get(name);
    if (running !== undefined) return running;
    const made = make()
      .then(() => {
        if (known.size >= MAX_KNOWN) known.clear();
        known.add(name);
      })
      .finally(() => pending.delete(name));
    pending.set(name, made);
    return made;
  };
  return { known, once };
}

async function makeIndex(connection: ElasticsearchConnection, index: string, layout: IndexLayout): Promise<void> {
  const isNew = await connection.request(async (client, options) => {
    try {
      await client.indices.create({ index, ...layout }, options);
      return true;
    } catch (error) {
      const isThere = error instanceof errors.ResponseError && errorType(error) === 'resource_already_exists_exception';
      if (isThere) return false;
      throw error;
    }
  });
  if (isNew) return;
  const found = await connection.request((client, options) => client.indices.getMapping({ index }, options));
  const mappings = found[index]?.mappings;
  const problem = misfit(mappings, layout);
  const { properties = {} } = layout.mappings;
  if (problem === null && Object.keys(properties).every((name) => name in (mappings?.properties ?? {}))) return;
  // Made before a field was added, which rows can go without.
  if (problem === null) {
    await connection.request((client, options) => client.indices.putMapping({ index, properties }, options));
    return;
  }
  throw engramError(
    'EmbeddingDimensionMismatchError',
    `The index ${index} of Elasticsearch at ${connection.address} ${problem}. Delete it and rebuild its datasets, ` +
      'or use another prefix.',
  );
}

async function deleteEmptyIndex(connection: ElasticsearchConnection, index: string): Promise<void> {
  const isEmpty = async () => {
    const [rows, aliases] = await Promise.all([
      connection.request((client, options) => client.count({ index }, options)),
      connection.request((client, options) => client.indices.getAlias({ index }, options)),
    ]);
    return rows.count === 0 && Object.keys(aliases[index]?.aliases ?? {}).length === 0;
  };
  if (!(await isEmpty())) return;
  // Waits for writes in flight and refuses further ones, whose writers then find no alias and create everything again.
  await connection.request((client, options) => client.indices.addBlock({ index, block: 'write' }, options));
  await connection.request((client, options) => client.indices.refresh({ index }, options));
  if (await isEmpty()) {
    await connection.request((client, options) => client.indices.delete({ index }, options));
    return;
  }
  const settings = { 'index.blocks.write': null };
  await connection.request((client, options) => client.indices.putSettings({ index, settings }, options));
}
