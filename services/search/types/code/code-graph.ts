import { NODE_TYPES } from '../../../common/domain/index-rows.ts';
import type { DataItemId } from '../../../common/kernel/brand.ts';
import { compareText } from '../../../common/kernel/compare-text.ts';
import { type DatasetRef, scopeOf } from '../../../common/kernel/dataset.ts';
import { sha256OfJson } from '../../../common/kernel/hashes.ts';
import type { JsonObject } from '../../../common/kernel/json.ts';
import { recentlyUsed } from '../../../common/kernel/recently-used.ts';
import { pagesOf } from '../../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import type { CodeFacts } from '../../../common/ports/code-facts.ts';
import { type Ledger, visible } from '../../../common/records/cognify/ledger.ts';
import type { GraphStore, NodeEvidence } from '../../../common/storage/ports/graph-store.ts';
import type { CodeEdge, CodeFile, CodeKind, CodeNode } from './code-node.ts';
import { linkCode } from './link-code.ts';

/** The modules, symbols, routes and dependencies of a dataset, in the order of the contract. */
export interface CodeGraph {
  readonly nodes: ReadonlyMap<string, CodeNode>;
  /** With the place of each in the order. */
  readonly edges: ReadonlyMap<CodeEdge, number>;
  readonly from: ReadonlyMap<string, readonly CodeEdge[]>;
  readonly into: ReadonlyMap<string, readonly CodeEdge[]>;
}

const TYPES: Readonly<Record<CodeKind, string>> = {
  module: 'CodeModule',
  symbol: 'CodeSymbol',
  dependency: 'ExternalDependency',
  route: 'ApiEndpoint',
};

/** Graphs of code that are kept in memory. */
const MAX_GRAPHS = 16;

export type CodeGraphs = ReturnType<typeof createCodeGraphs>;

/** Links the code of datasets, and keeps the graphs of each kind of reader until what is committed of the dataset changes. */
export function createCodeGraphs(graph: Pick<GraphStore, 'scanNodes'>, ledger: Pick<Ledger, 'allCommitted'>) {
  const known = new Map<string, { readonly stamp: string; readonly graph: Promise<CodeGraph> }>();
  const build = async (scope: DatasetScope, committed: ReadonlyMap<DataItemId, number>): Promise<CodeGraph> => {
    const files: CodeFile[] = [];
    const query = { types: [NODE_TYPES.codeModule], limit: 1000 };
    for await (const page of pagesOf((after) => graph.scanNodes(scope, { ...query, after }))) {
      for (const row of visible(page, committed)) files.push(fileOf(row));
    }
    return buildCodeGraph(files);
  };
  return {
    async read(dataset: DatasetRef): Promise<CodeGraph> {
      const scope = scopeOf(dataset);
      const { tenant, dataset: id, withheld } = scope;
      const committed = await ledger.allCommitted(scope);
      const stamp = sha256OfJson([...committed]);
      const key = `${tenant} ${id} ${withheld === undefined ? '' : sha256OfJson([...withheld])}`;
      if (known.get(key)?.stamp !== stamp) known.delete(key);
      const make = () => ({ stamp, graph: build(scope, committed) });
      return recentlyUsed(known, MAX_GRAPHS, key, make).graph.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
    },
  };
}

function fileOf({ name, nodeSets, properties }: NodeEvidence): CodeFile {
  const { repository, facts } = properties as { readonly repository: string | null; readonly facts: string };
  return { path: name, repo: repository ?? nodeSets[0] ?? null, facts: JSON.parse(facts) as CodeFacts };
}

export function buildCodeGraph(files: readonly CodeFile[]): CodeGraph {
  const { nodes, edges } = linkCode(files);
  const sorted = [...new Map(nodes.map((node) => [node.id, node])).values()]
    .map((node) => ({ node, key: keyOf(node) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ node }) => node);
  const places = new Map(sorted.map(({ id }, at) => [id, at]));
  const distinct = new Map<string, CodeEdge>();
  for (const edge of edges) {
    const key = `${edge.type}\n${edge.source}\n${edge.target}`;
    if (edge.source !== edge.target && !distinct.has(key)) distinct.set(key, edge);
  }
  const placeOf = (id: string) => places.get(id) ?? 0;
  const ordered = [...distinct.values()].sort(
    (a, b) =>
      compareText(a.type, b.type) || placeOf(a.source) - placeOf(b.source) || placeOf(a.target) - placeOf(b.target),
  );
  return {
    nodes: new Map(sorted.map((node) => [node.id, node])),
    edges: new Map(ordered.map((edge, at) => [edge, at])),
    from: Map.groupBy(ordered, ({ source }) => source),
    into: Map.groupBy(ordered, ({ target }) => target),
  };
}

function keyOf({ repo, kind, name, file, line, id }: CodeNode): string {
  return [repo ?? '', TYPES[kind], name.toLowerCase(), file ?? '', String(line ?? 0).padStart(8, '0'), id].join('\n');
}

/** The fact object of the contract. */
export function factOf({ id, kind, name, file, line, repo, symbolKind: symbol, properties }: CodeNode): JsonObject {
  return {
    id,
    kind,
    type: TYPES[kind],
    name,
    ...(file === null ? {} : { file }),
    ...(line === null ? {} : { line }),
    ...(repo === null ? {} : { repo }),
    ...(symbol === null ? {} : { symbol_kind: symbol }),
    ...(properties === null ? {} : { properties }),
  };
}

export function factsOf(nodes: Iterable<CodeNode>): JsonObject[] {
  return [...nodes].map(factOf);
}

/** `src/cart.ts:12`, or what else says where it is. */
export function placeOf({ file, line, id }: CodeNode): string {
  return file === null ? id : line === null ? file : `${file}:${line}`;
}

/** The edge objects of the contract. */
export function edgesOf({ nodes }: CodeGraph, edges: readonly CodeEdge[]): JsonObject[] {
  return edges.map(({ source, target, type, file, line }) => ({
    source_id: source,
    source: nodes.get(source)?.name,
    target_id: target,
    target: nodes.get(target)?.name,
    type,
    properties: { file, line },
  }));
}

/** Whether a node is of a kind, by its kind or its type; an empty list takes all. */
export function isOfKind({ kind }: CodeNode, kinds: readonly string[]): boolean {
  return kinds.length === 0 || kinds.some((one) => one === kind || one === TYPES[kind].toLowerCase());
}

export function withoutExtension(name: string): string {
  return name.replace(/(?<=[^/])\.[a-z]\w{0,6}$/iu, '');
}
