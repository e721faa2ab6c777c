import { mergeEdges, mergeNodes } from '../../../domain/graph/merge.ts';
import { INTERNAL_RELATIONS, NODE_TYPES } from '../../../domain/index-rows.ts';
import type { DataItemId } from '../../../kernel/brand.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { type CypherGraph, createGraph } from '../../cypher/graph.ts';
import { CypherRefusedError } from '../../cypher/tokens.ts';
import { fromJson, type GraphNode, type Properties, type Value } from '../../cypher/values.ts';
import { EVIDENCE_PER_ELEMENT, edgeProperties, labelsOf, nodeProperties, typeOf } from '../../cypher/view.ts';
import type { EdgeEvidence, NodeEvidence } from '../../ports/graph-store.ts';
import { type Provenance, provenanceKey } from '../../ports/index-entry.ts';
import { type OpenFile, reading } from './open-files.ts';

/** About 1 KB each, the texts of chunks included. */
const MAX_ROWS = 1_000_000;

type Origin = Provenance & { readonly nodeSets: string };
type NodeRow = readonly [
  node: number,
  id: string,
  origin: number,
  mentions: number,
  type: string,
  name: string,
  properties: string,
];
type EdgeRow = readonly [source: number, relation: string, target: number, origin: number, weight: number, properties: string]; // biome-ignore format: one a line

const admitsAny = () => true;

/** The graph of a dataset as merged from the evidence of committed origins, for queries in Cypher. One snapshot of the file. */
export function readCypherGraph(file: OpenFile, committed: ReadonlySet<string>): CypherGraph {
  return reading(file, () => {
    const rows = Number(file.get('SELECT (SELECT count(*) FROM node_row) + (SELECT count(*) FROM edge_row)', [])?.[0]);
    if (rows > MAX_ROWS)
      throw new CypherRefusedError(
        `The graph of this dataset has ${rows} rows of evidence, and the embedded graph store answers ` +
          `Cypher up to ${MAX_ROWS}. Use the cluster stores (Neo4j).`,
      );
    const origins = readOrigins(file, committed);
    const graph = createGraph();
    const nodes = new Map<number, GraphNode>();
    const takeNode = (rows: readonly NodeRow[]) => {
      const node = nodeOf(rows, origins);
      if (node !== null) nodes.set(rows[0]?.[0] as number, graph.addNode(node.labels, node.properties, rows[0]?.[1]));
    };
    const takeEdge = (rows: readonly EdgeRow[]) => {
      const [source, relation, target] = rows[0] as EdgeRow;
      const [from, to] = [nodes.get(source), nodes.get(target)];
      if (!from || !to || INTERNAL_RELATIONS.has(relation)) return;
      const properties = lazily(() => edgeProperties(mergedEdge(rows, from, to, origins), admitsAny));
      graph.addEdge(from, typeOf(relation, admitsAny), to, properties);
    };
    eachGroup<NodeRow>(
      file,
      `SELECT node, id, origin, mentions, type, name, properties FROM node_row JOIN node_key USING (node)
       ORDER BY node, mentions DESC`,
      ([node]) => node,
      (row) => origins.has(row[2]),
      takeNode,
    );
    eachGroup<EdgeRow>(
      file,
      'SELECT source, relation, target, origin, weight, properties FROM edge_row ORDER BY source, relation, target',
      ([source, relation, target]) => `${source} ${target} ${relation}`,
      (row) => origins.has(row[3]),
      (rows) =>
        takeEdge(rows.length === 1 ? rows : rows.toSorted((a, b) => b[4] - a[4]).slice(0, EVIDENCE_PER_ELEMENT)),
    );
    return graph;
  });
}

function readOrigins(file: OpenFile, committed: ReadonlySet<string>): ReadonlyMap<number, Origin> {
  const rows = file.all('SELECT origin, item, generation, node_sets FROM origin', []);
  return new Map(
    rows.flatMap(([origin, item, generation, nodeSets]) => {
      const found = { item: String(item) as DataItemId, generation: Number(generation), nodeSets: String(nodeSets) };
      return committed.has(provenanceKey(found)) ? [[Number(origin), found] as const] : [];
    }),
  );
}

/** Rows that follow each other and share a key. */
function eachGroup<Row extends readonly unknown[]>(
  file: OpenFile,
  sql: string,
  keyOf: (row: Row) => unknown,
  accepts: (row: Row) => boolean,
  visit: (rows: readonly Row[]) => void,
): void {
  let group: Row[] = [];
  let key: unknown;
  const finish = () => {
    if (group.length > 0) visit(group);
  };
  file.each(sql, [], (found) => {
    const row = found as unknown as Row;
    if (!accepts(row)) return true;
    const next = keyOf(row);
    if (next !== key) {
      finish();
      group = [];
      key = next;
    }
    group.push(row);
    return true;
  });
  finish();
}

/** Label and properties of a node; null for a keyword, which no view shows. */
function nodeOf(rows: readonly NodeRow[], origins: ReadonlyMap<number, Origin>) {
  const kept = rows.slice(0, EVIDENCE_PER_ELEMENT);
  const merge = () => {
    const [node] = mergeNodes(kept.map((row) => nodeEvidence(row, origins)));
    if (node === undefined) throw new RangeError('No evidence');
    return node;
  };
  const type = kept.every((row) => row[4] === kept[0]?.[4]) ? (kept[0]?.[4] as string) : merge().type;
  // Most nodes are told by their columns; JSON is read when a query wants it.
  const mayBeKeyword = type === NODE_TYPES.entity && kept.every((row) => row[6].includes('"isKeyword":true'));
  if (mayBeKeyword && merge().properties['isKeyword'] === true) return null;
  return { labels: labelsOf(type, admitsAny), properties: lazily(() => nodeProperties(merge(), admitsAny)) };
}

function nodeEvidence(row: NodeRow, origins: ReadonlyMap<number, Origin>): NodeEvidence {
  const [, id, origin, mentions, type, name, properties] = row;
  const { item, generation, nodeSets } = origins.get(origin) as Origin;
  return {
    id,
    item,
    generation,
    mentions,
    type,
    name,
    nodeSets: JSON.parse(nodeSets) as readonly string[],
    properties: JSON.parse(properties) as JsonObject,
  };
}

function mergedEdge(rows: readonly EdgeRow[], from: GraphNode, to: GraphNode, origins: ReadonlyMap<number, Origin>) {
  const [source, target] = [String(from.properties.get('id')), String(to.properties.get('id'))];
  const [edge] = mergeEdges(
    rows.map(([, relation, , origin, weight, properties]): EdgeEvidence => {
      const { item, generation } = origins.get(origin) as Origin;
      return { source, relation, target, item, generation, weight, properties: JSON.parse(properties) as JsonObject };
    }),
  );
  if (edge === undefined) throw new RangeError('No evidence');
  return edge;
}

/** Properties that are made when one of them is first asked for. */
function lazily(make: () => JsonObject): () => Properties {
  let made: Properties | null = null;
  let pending: (() => JsonObject) | null = make;
  return () => {
    if (pending !== null)
      made = new Map<string, Value>(Object.entries(pending()).map(([key, value]) => [key, fromJson(value as Json)]));
    pending = null;
    return made as Properties;
  };
}
