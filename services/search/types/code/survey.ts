import type { JsonObject } from '../../../common/kernel/json.ts';
import { STOP_WORDS } from '../../../common/text/language/stop-words.ts';
import { type CodeGraph, type CodeNode, edgesOf, factOf, factsOf } from './code-graph.ts';
import type { Asked, Operation } from './operations.ts';
import { codeError, count, text, tierOf } from './options.ts';
import { presentWalk, stepsFrom, walk } from './walk.ts';

/** The nodes whose names say most of the words, best first. */
function ranked(graph: CodeGraph, words: string, repo: string | null): readonly { node: CodeNode; score: number }[] {
  const asked = words
    .toLowerCase()
    .split(/[^\p{L}\p{N}_./@-]+/u)
    .map((word) => word.replace(/[./-]+$/u, ''))
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  return [...graph.nodes.values()]
    .filter((node) => repo === null || node.repo === repo)
    .map((node) => ({ node, score: asked.reduce((sum, word) => sum + tierOf(node, word), 0) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

function wordsOf({ operation, query, words }: Asked, ...keys: readonly string[]): string {
  const asked = text(query, ...keys) ?? words.trim();
  if (asked === '') throw codeError('invalid_argument', `CODE ${operation} needs a text.`, keys[0]);
  return asked;
}

export const search: Operation = (graph, asked) => {
  const words = wordsOf(asked, 'text', 'query', 'name');
  const found = ranked(graph, words, text(asked.query, 'repo'));
  const facts = found.slice(0, count(asked.query, 'limit', [10, 50])).map(({ node, score }) => {
    return { ...factOf(node), score };
  });
  return { operation: 'search', query: words, facts, total: found.length };
};

/** Answers with what the graph says of the nodes that the question names; each citation is an edge of it. */
export const ask: Operation = (graph, asked) => {
  const { query } = asked;
  const question = wordsOf(asked, 'question', 'text', 'query');
  const found = ranked(graph, question, text(query, 'repo'));
  const best = found[0]?.score ?? 0;
  // A part of a name says little beside a whole one.
  const seeds = found
    .filter(({ score }) => 2 * score >= best)
    .slice(0, count(query, 'seeds', [5, 10]))
    .map(({ node }) => node);
  const near = walk(graph, seeds, { direction: 'both', maxDepth: 1, maxNodes: count(query, 'max_nodes', [60, 200]) });
  const citations = near.edges.slice(0, count(query, 'citations', [25, 60])).map((edge) => {
    const [source, target] = [graph.nodes.get(edge.source), graph.nodes.get(edge.target)];
    const said = `${source?.name} ${edge.type} ${target?.name}`;
    return { source_id: edge.source, target_id: edge.target, type: edge.type, file: source?.file ?? null, text: said };
  });
  const answer =
    seeds.length === 0
      ? 'The code graph names nothing of the question.'
      : seeds.map((node) => told(graph, node)).join('\n');
  const { nodes, edges, stats } = presentWalk(graph, near);
  return { operation: 'ask', question, answer, seeds: factsOf(seeds), nodes, edges, citations, stats };
};

const NAMES_TOLD = 10;

/** One line about a node: `a.ts (module): imports b.ts; imported by c.ts; defines run.` */
function told(graph: CodeGraph, node: CodeNode): string {
  const kind = node.symbolKind ?? node.kind;
  const place = node.kind === 'symbol' && node.file !== null ? ` in ${node.file}` : '';
  const parts = (['imports', 'defines'] as const).flatMap((type) => [
    list(type, stepsFrom(graph, node.id, 'forward', [type])),
    list(type === 'imports' ? 'imported by' : 'defined by', stepsFrom(graph, node.id, 'reverse', [type])),
  ]);
  return `${node.name} (${kind}${place}): ${parts.filter(Boolean).join('; ') || 'nothing else is known'}.`;

  function list(verb: string, steps: readonly { readonly next: string }[]): string {
    if (steps.length === 0) return '';
    const names = steps.slice(0, NAMES_TOLD).map(({ next }) => graph.nodes.get(next)?.name);
    const more = steps.length > names.length ? ` and ${steps.length - names.length} more` : '';
    return `${verb} ${names.join(', ')}${more}`;
  }
}

export const hubs: Operation = (graph, { query }) => {
  const repo = text(query, 'repo');
  const rated = [...graph.nodes.values()]
    .filter((node) => repo === null || node.repo === repo)
    .map((node) => {
      const [out, into] = [graph.from.get(node.id)?.length ?? 0, graph.into.get(node.id)?.length ?? 0];
      return { node, figures: { degree: out + into, in_degree: into, out_degree: out } };
    })
    .sort((a, b) => b.figures.degree - a.figures.degree);
  const shown = rated.slice(0, count(query, 'limit', [20, 100]));
  return { operation: 'hubs', hubs: shown.map(({ node, figures }) => ({ ...factOf(node), ...figures })) };
};

/** Entry points are modules that no other one imports; their flow is what they import, nearest first. */
export const flows: Operation = (graph, { query }) => {
  const repo = text(query, 'repo');
  const entries = modulesOf(graph, repo).filter(({ id }) => {
    const isImported = stepsFrom(graph, id, 'reverse', ['imports']).length > 0;
    return !isImported && stepsFrom(graph, id, 'forward', ['imports']).length > 0;
  });
  const shown = entries.slice(0, count(query, 'limit', [20, 50])).map((entry) => {
    const { found, stats } = walk(graph, [entry], {
      direction: 'forward',
      maxDepth: 5,
      maxNodes: 100,
      relations: ['imports'],
    });
    const steps = found.filter(({ depth }) => depth > 0).map(({ node, depth }) => ({ ...factOf(node), depth }));
    return { entry: factOf(entry), steps, stats };
  });
  return { operation: 'flows', flows: shown, total: entries.length };
};

function modulesOf(graph: CodeGraph, repo: string | null): readonly CodeNode[] {
  return [...graph.nodes.values()].filter(({ kind, repo: own }) => {
    return kind === 'module' && (repo === null || own === repo);
  });
}

/** The map of the modules: what each defines, and the imports between them and of packages. */
export const architecture: Operation = (graph, { query }) => {
  const modules = modulesOf(graph, text(query, 'repo'));
  const ids = new Set(modules.map(({ id }) => id));
  const edges = graph.edges.filter(({ type, source }) => type === 'imports' && ids.has(source));
  const used = Map.groupBy(edges, ({ target }) => target);
  const dependencies = [...used].flatMap(([id, uses]) => {
    const node = graph.nodes.get(id);
    return node?.kind === 'dependency' ? [{ ...factOf(node), imported_by: uses.length }] : [];
  });
  const rows = modules.map((node) => ({
    ...factOf(node),
    imports: stepsFrom(graph, node.id, 'forward', ['imports']).length,
    imported_by: stepsFrom(graph, node.id, 'reverse', ['imports']).length,
    defines: stepsFrom(graph, node.id, 'forward', ['defines']).length,
  }));
  return { operation: 'architecture', modules: rows, dependencies, edges: edgesOf(graph, edges) };
};

/** Findings of analysers: cognify runs none on code, so none are stored. */
export const insights: Operation = () => ({ operation: 'insights', insights: [], total: 0 });

/** Snapshots of repositories: none are taken, files are added one by one. */
export const delta: Operation = () => ({ operation: 'delta', repositories: [] });

/** The numbers of what is stored, by kind, kind of symbol and relation. */
export function stored(graph: CodeGraph): JsonObject {
  const nodes = [...graph.nodes.values()];
  return {
    kinds: numbers(nodes.map(({ kind }) => kind)),
    symbol_kinds: numbers(nodes.flatMap(({ symbolKind }) => symbolKind ?? [])),
    relation_types: numbers(graph.edges.map(({ type }) => type)),
  };
}

function numbers(values: readonly string[]): JsonObject {
  return Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));
}
