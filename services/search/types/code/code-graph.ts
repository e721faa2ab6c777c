import { NODE_TYPES } from '../../../common/domain/index-rows.ts';
import { compareText } from '../../../common/kernel/compare-text.ts';
import { type DatasetRef, scopeOf } from '../../../common/kernel/dataset.ts';
import type { JsonObject } from '../../../common/kernel/json.ts';
import { openGraph } from '../../../common/records/cognify/visible-graph.ts';
import type { TypeDependencies } from '../target.ts';

export type CodeKind = 'module' | 'symbol' | 'dependency';

export interface CodeNode {
  readonly id: string;
  readonly kind: CodeKind;
  readonly name: string;
  /** The file that it is, or that defines it; null for what no file of the dataset defines. */
  readonly file: string | null;
  /** The first node set that its files were added under; null without one. */
  readonly repo: string | null;
  /** class, function, method or value; null when it is no symbol. */
  readonly symbolKind: string | null;
}

export interface CodeEdge {
  readonly source: string;
  readonly target: string;
  readonly type: 'imports' | 'defines';
}

/** An edge with the lines that state it. */
export interface StoredEdge extends CodeEdge {
  readonly text: string;
}

/** The modules, symbols and dependencies of a dataset, in the order of the contract. */
export interface CodeGraph {
  readonly nodes: ReadonlyMap<string, CodeNode>;
  readonly edges: readonly CodeEdge[];
  readonly from: ReadonlyMap<string, readonly CodeEdge[]>;
  readonly into: ReadonlyMap<string, readonly CodeEdge[]>;
}

/** An entity of the graph. `type`: its entity type. */
export interface StoredNode {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly nodeSets: readonly string[];
}

const TYPES: Readonly<Record<CodeKind, string>> = {
  module: 'CodeModule',
  symbol: 'CodeSymbol',
  dependency: 'ExternalDependency',
};

const RELATIONS: ReadonlyMap<string, CodeEdge['type']> = new Map([
  ['import', 'imports'],
  ['define', 'defines'],
]);

const CODE_FILE = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|php|cs|cpp|cc|c|h|hpp|scala|lua|sh|vue|svelte)$/iu;

/** Reads what cognify stored of the code of a dataset, as far as it is committed. */
export async function readCodeGraph(
  { indexes, ledger }: TypeDependencies,
  dataset: DatasetRef,
  signal?: AbortSignal,
): Promise<CodeGraph> {
  const graph = await openGraph({ graph: indexes.graph, ledger }, scopeOf(dataset));
  const nodes = new Map<string, StoredNode>();
  for await (const page of graph.nodes(signal)) {
    for (const { id, name, type, nodeSets, properties } of page) {
      if (type === NODE_TYPES.entity) nodes.set(id, { id, name, nodeSets, type: String(properties['entityType']) });
    }
  }
  const edges: StoredEdge[] = [];
  for await (const page of graph.edges(signal)) {
    for (const { source, target, relation, evidence } of page) {
      const type = RELATIONS.get(relation);
      const text = evidence.map(({ properties }) => properties['text']).join('\n');
      if (type !== undefined && nodes.has(target)) edges.push({ source, target, type, text });
    }
  }
  return buildCodeGraph(nodes, edges);
}

/** Keeps what modules import and define: other texts may speak of importing and defining, too. */
export function buildCodeGraph(stored: ReadonlyMap<string, StoredNode>, all: readonly StoredEdge[]): CodeGraph {
  const isModule = (id: string) => stored.get(id)?.type === 'Module';
  const imports = all.filter(({ type, source }) => type === 'imports' && isModule(source));
  const byOwner = Map.groupBy(
    all.filter(({ type }) => type === 'defines'),
    ({ source }) => source,
  );
  const fileOf = new Map<string, string>();
  const owners = [...byOwner.keys()].filter(isModule).concat(imports.map(({ source }) => source));
  for (const id of owners) fileOf.set(id, stored.get(id)?.name ?? '');
  const files = new Set(fileOf.keys());
  const defines: CodeEdge[] = [];
  // Grows while it is walked: what a module defines may define members.
  const walked = new Set(files);
  for (const owner of walked) {
    for (const edge of byOwner.get(owner) ?? []) {
      defines.push(edge);
      if (!fileOf.has(edge.target)) fileOf.set(edge.target, fileOf.get(owner) ?? '');
      walked.add(edge.target);
    }
  }
  const local = modulesByShortName([...files].flatMap((id) => stored.get(id) ?? []));
  const linked: readonly CodeEdge[] = imports.map((edge) => {
    return { ...edge, target: localModule(edge, stored, files, local) };
  });
  const members = new Set(defines.filter(({ source }) => !files.has(source)).map(({ target }) => target));
  const nodes = new Map<string, CodeNode>();
  for (const id of new Set([...files, ...linked.map(({ target }) => target), ...walked])) {
    const node = stored.get(id);
    if (node === undefined) continue;
    const { name } = node;
    const isFile = files.has(id) || (!walked.has(id) && CODE_FILE.test(name));
    const kind = isFile ? 'module' : walked.has(id) ? 'symbol' : 'dependency';
    nodes.set(id, {
      id,
      kind,
      name,
      repo: node.nodeSets[0] ?? null,
      file: kind === 'module' ? name : (fileOf.get(id) ?? null),
      symbolKind: kind === 'symbol' ? symbolKind(node.type, members.has(id)) : null,
    });
  }
  return ordered(nodes, [...linked, ...defines]);
}

function symbolKind(type: string, isMember: boolean): string {
  if (type === 'Class') return 'class';
  if (type !== 'Function') return 'value';
  return isMember ? 'method' : 'function';
}

function modulesByShortName(files: readonly StoredNode[]): ReadonlyMap<string, readonly StoredNode[]> {
  return Map.groupBy(files, ({ name }) => withoutExtension(name).toLowerCase());
}

/** The file that an import without an extension means (`from .util import x` is util.py); else the target itself. */
function localModule(
  { source, target, text }: StoredEdge,
  stored: ReadonlyMap<string, StoredNode>,
  files: ReadonlySet<string>,
  local: ReadonlyMap<string, readonly StoredNode[]>,
): string {
  const name = stored.get(target)?.name ?? '';
  if (files.has(target) || CODE_FILE.test(name)) return target;
  const extension = extensionOf(stored.get(source)?.name ?? '');
  // JavaScript imports its own files by their paths, and packages by their names.
  if (/[jt]sx?$/u.test(extension) && !/['"]\.{0,2}\//u.test(text)) return target;
  const short = name.split(/[./:]+/u).at(-1) ?? '';
  const same = (local.get(short.toLowerCase()) ?? []).filter((file) => {
    return file.id !== source && extensionOf(file.name) === extension;
  });
  return same.length === 1 && same[0] !== undefined ? same[0].id : target;
}

function extensionOf(name: string): string {
  return CODE_FILE.exec(name)?.[0].toLowerCase() ?? '';
}

export function withoutExtension(name: string): string {
  return name.replace(CODE_FILE, '');
}

function ordered(nodes: ReadonlyMap<string, CodeNode>, all: readonly CodeEdge[]): CodeGraph {
  const sorted = [...nodes.values()]
    .map((node) => ({ node, key: keyOf(node) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ node }) => node);
  const places = new Map(sorted.map(({ id }, at) => [id, at]));
  const known = all.filter(({ source, target }) => source !== target && places.has(source) && places.has(target));
  const distinct = new Map(known.map((edge) => [`${edge.type}\n${edge.source}\n${edge.target}`, edge]));
  const placeOf = (id: string) => places.get(id) ?? 0;
  const edges = [...distinct.values()].sort(
    (a, b) =>
      compareText(a.type, b.type) || placeOf(a.source) - placeOf(b.source) || placeOf(a.target) - placeOf(b.target),
  );
  return {
    nodes: new Map(sorted.map((node) => [node.id, node])),
    edges,
    from: Map.groupBy(edges, ({ source }) => source),
    into: Map.groupBy(edges, ({ target }) => target),
  };
}

function keyOf({ repo, kind, name, file, id }: CodeNode): string {
  return [repo ?? '', TYPES[kind], name.toLowerCase(), file ?? '', id].join('\n');
}

/** The fact object of the contract. */
export function factOf({ id, kind, name, file, repo, symbolKind: symbol }: CodeNode): JsonObject {
  return {
    id,
    kind,
    type: TYPES[kind],
    name,
    ...(file === null ? {} : { file }),
    ...(repo === null ? {} : { repo }),
    ...(symbol === null ? {} : { symbol_kind: symbol }),
  };
}

export function factsOf(nodes: Iterable<CodeNode>): JsonObject[] {
  return [...nodes].map(factOf);
}

/** The edge objects of the contract. */
export function edgesOf({ nodes }: CodeGraph, edges: readonly CodeEdge[]): JsonObject[] {
  return edges.map(({ source, target, type }) => ({
    source_id: source,
    source: nodes.get(source)?.name,
    target_id: target,
    target: nodes.get(target)?.name,
    type,
  }));
}

/** Whether a node is of a kind, by its kind or its type; an empty list takes all. */
export function isOfKind({ kind }: CodeNode, kinds: readonly string[]): boolean {
  return kinds.length === 0 || kinds.some((one) => one === kind || one === TYPES[kind].toLowerCase());
}
