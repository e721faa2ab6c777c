/** Dimensions of widely used embedding models, by the start of their bare name; longer starts first. */
const DIMENSIONS: readonly (readonly [string, number])[] = [
  ['text-embedding-3-large', 3072],
  ['text-embedding-3-small', 1536],
  ['text-embedding-ada-002', 1536],
  ['text-embedding-004', 768],
  ['gemini-embedding', 3072],
  ['mistral-embed', 1024],
  ['nomic-embed-text', 768],
  ['mxbai-embed-large', 1024],
  ['snowflake-arctic-embed', 1024],
  ['all-minilm-l6-v2', 384],
  ['all-minilm', 384],
  ['bge-small', 384],
  ['bge-base', 768],
  ['bge-large', 1024],
  ['bge-m3', 1024],
];

/** Null for a model that is not known. */
export function knownDimensions(model: string): number | null {
  const name = bareName(model);
  return DIMENSIONS.find(([start]) => name.startsWith(start))?.[1] ?? null;
}

/** Models that make shorter vectors on request; others may refuse the field. */
export function takesDimensions(model: string): boolean {
  return /^(text-embedding-3|gemini-embedding)/.test(bareName(model));
}

function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}
