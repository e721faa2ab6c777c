import type { RowSelection } from '../../ports/text-index.ts';
import type { EdgeBatch, NodeBatch } from './batches.ts';
import { type OpenFile, writing } from './open-files.ts';
import { allOrigins, originsOf, removeUnusedOrigins, resolveOrigins } from './origins.ts';

export function upsertGraph(file: OpenFile, nodes: NodeBatch, edges: EdgeBatch): void {
  writing(file, () => {
    const keyOf = nodeKeys(file);
    upsertNodes(file, nodes, keyOf);
    upsertEdges(file, edges, keyOf);
  });
}

/** Returns how many evidence rows went. */
export function removeGraph(file: OpenFile, selection: RowSelection): number {
  return writing(file, () => {
    const origins = originsOf(file, selection);
    const touched = new Set<number>();
    let removed = 0;
    for (const origin of origins) {
      for (const [node] of file.all('DELETE FROM node_row WHERE origin = ? RETURNING node', [origin])) {
        touched.add(Number(node));
        removed++;
      }
      for (const [source, target] of file.all('DELETE FROM edge_row WHERE origin = ? RETURNING source, target', [
        origin,
      ])) {
        touched.add(Number(source)).add(Number(target));
        removed++;
      }
    }
    for (const node of touched) removeUnusedKey(file, node);
    removeUnusedOrigins(file, origins);
    return removed;
  });
}

export function dropGraph(file: OpenFile): void {
  writing(file, () => {
    for (const table of ['node_row', 'edge_row', 'node_key']) file.exec(`DELETE FROM ${table}`);
    removeUnusedOrigins(file, allOrigins(file));
  });
}

function upsertNodes(file: OpenFile, batch: NodeBatch, keyOf: (id: string) => number): void {
  const origins = resolveOrigins(file, 'node_row', batch.origins);
  const put = file.writer(
    'INSERT OR REPLACE INTO node_row (node, origin, mentions, type, name, properties) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (let index = 0; index < batch.ids.length; index++) {
    const node = keyOf(batch.ids[index] as string);
    const { origin, rivals } = origins[batch.originOf[index] as number] as (typeof origins)[number];
    for (const rival of rivals) {
      if (rival !== origin) file.run('DELETE FROM node_row WHERE node = ? AND origin = ?', [node, rival]);
    }
    put(
      node,
      origin,
      batch.mentions[index] as number,
      batch.types[index] as string,
      batch.names[index] as string,
      batch.properties[index] as string,
    );
  }
}

function upsertEdges(file: OpenFile, batch: EdgeBatch, keyOf: (id: string) => number): void {
  // Edges carry no node sets, so an item's generation has one origin here and a replaced row has the same key.
  const origins = resolveOrigins(file, 'edge_row', batch.origins);
  const put = file.writer(
    'INSERT OR REPLACE INTO edge_row (source, relation, target, origin, weight, properties) VALUES (?, ?, ?, ?, ?, ?)',
  );
  // In source order: neighbouring keys lie on one page.
  const order = batch.sources
    .map((source, index) => ({ source: keyOf(source), index }))
    .sort((a, b) => a.source - b.source);
  for (const { source, index } of order) {
    put(
      source,
      batch.relations[index] as string,
      keyOf(batch.targets[index] as string),
      (origins[batch.originOf[index] as number] as (typeof origins)[number]).origin,
      batch.weights[index] as number,
      batch.properties[index] as string,
    );
  }
}

/** Finds or makes the number of a node id, each once per call. */
function nodeKeys(file: OpenFile): (id: string) => number {
  const known = new Map<string, number>();
  return (id) => {
    const key = known.get(id) ?? findOrMakeKey(file, id);
    known.set(id, key);
    return key;
  };
}

function findOrMakeKey(file: OpenFile, id: string): number {
  const found = file.get('SELECT node FROM node_key WHERE id = ?', [id]);
  return found === undefined ? file.run('INSERT INTO node_key (id) VALUES (?)', [id]).lastRow : Number(found[0]);
}

function removeUnusedKey(file: OpenFile, node: number): void {
  file.run(
    `DELETE FROM node_key WHERE node = ?1
     AND NOT EXISTS (SELECT 1 FROM node_row WHERE node = ?1)
     AND NOT EXISTS (SELECT 1 FROM edge_row WHERE source = ?1)
     AND NOT EXISTS (SELECT 1 FROM edge_row WHERE target = ?1)`,
    [node],
  );
}
