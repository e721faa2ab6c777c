import { createHash } from 'node:crypto';
import neo4j from 'neo4j-driver';
import type { DataItemId } from '../../../kernel/brand.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { EdgeEvidence, NodeEvidence } from '../../ports/graph-store.ts';
import type { Provenance } from '../../ports/index-entry.ts';

/** Evidence as it is stored, without tenant and dataset; see `schema.ts`. */
export type StoredNode = {
  readonly key: string;
  readonly id: string;
  readonly item: string;
  readonly generation: number;
  readonly type: string;
  readonly name: string;
  readonly mentions: number;
  readonly nodeSets: string;
  readonly properties: string;
};

export type StoredEdge = {
  readonly key: string;
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  readonly item: string;
  readonly generation: number;
  readonly weight: number;
  /** Absent where the caller did not want it. */
  readonly properties?: string | null;
};

export type StoredRow = Readonly<Record<string, unknown>> & { readonly key: string };

/** Columns of a RETURN: cheaper than maps, by a third for many rows. */
export const NODE_COLUMNS = columns('n', 'key id item generation type name mentions nodeSets properties');
export const EDGE_COLUMNS = columns('e', 'key source relation target item generation weight properties');
/** An edge as a list, in the order in which `edgeOf` reads it: many of them in a row cost the driver half of what rows cost. */
export const EDGE_LIST = '[e.key, e.source, e.relation, e.target, e.item, e.generation, e.weight, e.properties]';
export const EDGE_KEY_LIST = EDGE_LIST.replace(', e.properties', '');
export type EdgeList = readonly [
  key: string,
  source: string,
  relation: string,
  target: string,
  item: string,
  generation: number,
  weight: number,
  properties?: string | null,
];

export function edgeOf([key, source, relation, target, item, generation, weight, properties]: EdgeList): StoredEdge {
  return { key, source, relation, target, item, generation, weight, properties: properties ?? null };
}

function columns(row: string, names: string): string {
  return names
    .split(' ')
    .map((name) => `${row}.${name} AS ${name}`)
    .join(', ');
}

/** 22 characters that stand for the texts: 128 bits of SHA-256. */
export function refOf(...parts: readonly string[]): string {
  const text = parts.length === 1 ? (parts[0] as string) : JSON.stringify(parts);
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}

export function originKey({ item, generation }: { readonly item: string; readonly generation: number }): string {
  return refOf(item, String(generation));
}

export function edgeRef(edge: Pick<EdgeEvidence, 'source' | 'relation' | 'target'>): string {
  return refOf(edge.source, edge.relation, edge.target);
}

/** The last row of a key wins. Throws before anything is written when a row cannot be stored. */
export function nodeRows(nodes: readonly NodeEvidence[]): readonly StoredRow[] {
  return distinct(
    nodes.map((node) => {
      const ref = refOf(node.id);
      const origin = originKey(node);
      return {
        key: ref + origin,
        ref,
        origin,
        id: node.id,
        item: node.item,
        generation: neo4j.int(node.generation),
        type: node.type,
        name: node.name,
        mentions: finite(node.mentions, 'mentions'),
        nodeSets: JSON.stringify(node.nodeSets),
        properties: JSON.stringify(node.properties),
      };
    }),
  );
}

export function edgeRows(edges: readonly EdgeEvidence[]): readonly StoredRow[] {
  return distinct(
    edges.map((edge) => {
      const ref = edgeRef(edge);
      const origin = originKey(edge);
      return {
        key: ref + origin,
        ref,
        origin,
        source: edge.source,
        sourceRef: refOf(edge.source),
        relation: edge.relation,
        target: edge.target,
        targetRef: refOf(edge.target),
        item: edge.item,
        generation: neo4j.int(edge.generation),
        weight: finite(edge.weight, 'weight'),
        properties: JSON.stringify(edge.properties),
      };
    }),
  );
}

export function originRows(rows: readonly Provenance[]): readonly StoredRow[] {
  return distinct(
    rows.map(({ item, generation }) => ({
      key: originKey({ item, generation }),
      item,
      itemRef: refOf(item),
      generation: neo4j.int(generation),
    })),
  );
}

export function readNode({
  id,
  item,
  generation,
  type,
  name,
  mentions,
  nodeSets,
  properties,
}: StoredNode): NodeEvidence {
  return {
    id,
    item: item as DataItemId,
    generation,
    type,
    name,
    mentions,
    nodeSets: JSON.parse(nodeSets) as readonly string[],
    properties: JSON.parse(properties) as JsonObject,
  };
}

export function readEdge({ source, relation, target, item, generation, weight, properties }: StoredEdge): EdgeEvidence {
  return {
    source,
    relation,
    target,
    item: item as DataItemId,
    generation,
    weight,
    properties: typeof properties === 'string' ? (JSON.parse(properties) as JsonObject) : {},
  };
}

function distinct<Row extends StoredRow>(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [row.key, row])).values()];
}

function finite(value: number, name: string): number {
  if (!Number.isFinite(value)) throw new RangeError(`${name} must be a number, not ${String(value)}`);
  return value;
}
