import { unreadable } from '../../domain/snapshot.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import type { EdgeEvidence, NodeEvidence } from '../ports/graph-store.ts';
import type { EntryKey, IndexKind, Provenance } from '../ports/index-entry.ts';
import type { TextEntry } from '../ports/text-index.ts';
import type { VectorEntry } from '../ports/vector-index.ts';
import { lineOf } from './part-stream.ts';

/** A line of a part of rows. Those that follow an `item` are of its generation. */
type RowLine =
  | { readonly kind: 'item'; readonly item: Provenance }
  | { readonly kind: 'text'; readonly row: TextEntry }
  | { readonly kind: 'vector'; readonly row: VectorEntry }
  | { readonly kind: 'node'; readonly row: NodeEvidence }
  | { readonly kind: 'edge'; readonly row: EdgeEvidence };

export const rowLines = {
  item: ({ item, generation }: Provenance): string => lineOf(['item', item, generation]),
  text: ({ kind, id, ordinal, nodeSets, tokens, payload }: TextEntry): string =>
    lineOf(['text', kind, id, ordinal, nodeSets, tokens, payload]),
  vector: (
    kind: IndexKind,
    { id, vector }: EntryKey & { readonly vector: Float32Array },
    nodeSets: readonly string[],
  ) => lineOf(['vector', kind, id, nodeSets, toBase64(vector)]),
  node: ({ id, type, name, mentions, nodeSets, properties }: NodeEvidence): string =>
    lineOf(['node', id, type, name, mentions, nodeSets, properties]),
  edge: ({ source, relation, target, weight, properties }: EdgeEvidence): string =>
    lineOf(['edge', source, relation, target, weight, properties]),
} as const;

export async function* readRowLines(lines: AsyncIterable<unknown>): AsyncGenerator<RowLine> {
  let origin: Provenance | null = null;
  for await (const line of lines) {
    const [kind, ...values] = line as readonly [string, ...never[]];
    if (kind === 'item') {
      const [item, generation] = values as unknown as readonly [DataItemId, number];
      origin = { item, generation };
      yield { kind, item: origin };
      continue;
    }
    if (origin === null) throw unreadable('rows of no item are in it');
    yield rowOf(kind, values, origin);
  }
}

function rowOf(kind: string, values: readonly never[], origin: Provenance): RowLine {
  if (kind === 'text') {
    const [of, id, ordinal, nodeSets, tokens, payload] = values;
    return { kind, row: { ...origin, ...cast<TextEntry>({ kind: of, id, ordinal, nodeSets, tokens, payload }) } };
  }
  if (kind === 'vector') {
    const [of, id, nodeSets, vector] = values;
    const row = { ...origin, ...cast<VectorEntry>({ kind: of, id, nodeSets }) };
    return { kind, row: { ...row, vector: fromBase64(vector as unknown as string) } };
  }
  if (kind === 'node') {
    const [id, type, name, mentions, nodeSets, properties] = values;
    return { kind, row: { ...origin, ...cast<NodeEvidence>({ id, type, name, mentions, nodeSets, properties }) } };
  }
  if (kind === 'edge') {
    const [source, relation, target, weight, properties] = values;
    return { kind, row: { ...origin, ...cast<EdgeEvidence>({ source, relation, target, weight, properties }) } };
  }
  throw unreadable(`it has rows of an unknown kind, ${JSON.stringify(kind)}`);
}

/** The hash of the part has shown that it is complete and unchanged. */
function cast<Row>(row: object): Omit<Row, keyof Provenance> {
  return row as Omit<Row, keyof Provenance>;
}

function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Little-endian, as all machines that this runs on. */
function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
