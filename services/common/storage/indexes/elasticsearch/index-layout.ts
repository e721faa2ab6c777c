import type { estypes } from '@elastic/elasticsearch';

export interface IndexSettings {
  readonly replicas: number;
}

export interface IndexLayout {
  readonly settings: estypes.IndicesIndexSettings;
  readonly mappings: estypes.MappingTypeMapping;
}

/** Counted up when rows are stored differently; an index of another layout is refused. */
const LAYOUT = 1;

/** Rows of one id that can be asked for. */
export const MAX_ROWS_PER_ID = 1000;

/** The most that `dense_vector` takes. */
export const MAX_DIMENSIONS = 4096;

const WORD: estypes.MappingProperty = { type: 'keyword' };
const WORD_ONLY_SOUGHT: estypes.MappingProperty = { type: 'keyword', doc_values: false };
const ONLY_KEPT: estypes.MappingProperty = { type: 'keyword', index: false, doc_values: false };

const KEY = { dataset: WORD_ONLY_SOUGHT, kind: WORD_ONLY_SOUGHT, item: WORD, generation: { type: 'long' }, id: WORD } as const; // biome-ignore format: one line

export function textLayout(settings: IndexSettings): IndexLayout {
  const text = layout(settings, {
    ...KEY,
    ordinal: { type: 'long' },
    nodeSets: WORD_ONLY_SOUGHT,
    /** Each distinct token with its kind and how often it stands in the row: see `row-words.ts`. */
    words: WORD_ONLY_SOUGHT,
    often: ONLY_KEPT,
    length: { type: 'integer', index: false },
    /** Random number of the call that wrote the row: with the key it names what is in the row. Old rows have none. */
    stamp: { type: 'long', index: false },
    /** JSON text: given back as it was, whatever is in it. */
    payload: ONLY_KEPT,
  });
  return { ...text, settings: { ...text.settings, max_inner_result_window: MAX_ROWS_PER_ID } };
}

/** Vectors at unit length, so that the dot product is the cosine; full precision, so that similarities are exact. */
export function vectorLayout(settings: IndexSettings, dimensions: number): IndexLayout {
  return layout(settings, {
    ...KEY,
    nodeSets: WORD_ONLY_SOUGHT,
    /** Zero vectors have none: they are stored and never found. */
    vector: {
      type: 'dense_vector',
      dims: dimensions,
      index: true,
      similarity: 'dot_product',
      index_options: { type: 'hnsw', m: 16, ef_construction: 100 },
    },
  });
}

export function spacesLayout(settings: IndexSettings): IndexLayout {
  return layout(settings, { tenant: WORD, dataset: WORD, model: WORD, dimensions: { type: 'integer' } });
}

export function installationLayout(settings: IndexSettings): IndexLayout {
  return layout(settings, { installation: WORD });
}

/** Reason why an existing index does not fit the rows of `wanted`; null when it does. */
export function misfit(found: estypes.MappingTypeMapping | undefined, wanted: IndexLayout): string | null {
  const version: unknown = found?._meta?.['layout'];
  if (version !== LAYOUT) return `has layout ${String(version)} instead of ${LAYOUT}`;
  const dimensions = dimensionsOf(found);
  const expected = dimensionsOf(wanted.mappings);
  return dimensions === expected ? null : `holds vectors of ${dimensions} dimensions instead of ${expected}`;
}

function dimensionsOf(mappings: estypes.MappingTypeMapping | undefined): number | undefined {
  const field = mappings?.properties?.['vector'];
  return field?.type === 'dense_vector' ? field.dims : undefined;
}

function layout({ replicas }: IndexSettings, properties: Record<string, estypes.MappingProperty>): IndexLayout {
  return {
    // Writers refresh when they are done: refreshing in the background would show halves of their calls.
    settings: { number_of_shards: 1, number_of_replicas: replicas, refresh_interval: '-1' },
    mappings: { dynamic: 'strict', _meta: { layout: LAYOUT }, properties },
  };
}
