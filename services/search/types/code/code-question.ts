import type { DatasetRef } from '../../../common/kernel/dataset.ts';
import type { SearchRequest } from '../../model.ts';
import { type CodeGraph, type CodeGraphs, placeOf } from './code-graph.ts';
import type { CodeNode } from './link-code.ts';
import { type Direction, labelOf, tierOf } from './options.ts';
import { linksOf } from './survey.ts';
import { stepsFrom } from './walk.ts';

interface CodeQuestion {
  readonly name: string;
  /** Null: where it is defined. */
  readonly links: {
    readonly verb: string;
    readonly direction: Direction;
    readonly relations: readonly string[];
  } | null;
}

const KIND = '(?:the )?(?:(?:function|method|class|type|interface|variable|constant|file|module|package|symbol) )?';
const NAME = `${KIND}[\`'"]?(?<name>[\\p{L}_$@./][\\p{L}\\p{N}_$@./:#-]*?)(?:\\(\\))?[\`'"]?`;
const WHO = '(?:who|what|which \\p{L}+)';
const CALLS = ['calls'];
const USES = ['calls', 'references', 'handled_by'];
const IMPORTS = ['imports'];

/** Forms of questions about a name of code, with the links that answer them. */
const FORMS = (
  [
    [`(?:where|in (?:which|what) (?:file|module)) (?:is|are|was) ${NAME} (?:defined|declared|implemented)`, null],
    [`where (?:do|did) (?:we|you|they|I) (?:define|declare|implement) ${NAME}`, null],
    [`${WHO} (?:calls?|invokes?) ${NAME}`, ['called by', 'reverse', CALLS]],
    [`(?:where|by (?:whom|what)) is ${NAME} (?:called|invoked)`, ['called by', 'reverse', CALLS]],
    [`${WHO} (?:uses?|references?|depends? on) ${NAME}`, ['used by', 'reverse', USES]],
    [`(?:where|by (?:whom|what)) is ${NAME} (?:used|referenced)`, ['used by', 'reverse', USES]],
    [`${WHO} imports? ${NAME}`, ['imported by', 'reverse', IMPORTS]],
    [`(?:where|by (?:whom|what)) is ${NAME} imported`, ['imported by', 'reverse', IMPORTS]],
    [`what (?:does|do) ${NAME} (?:call|invoke)`, ['calls', 'forward', CALLS]],
    [`what (?:does|do) ${NAME} (?:use|depend on)`, ['uses', 'forward', USES]],
    [`what (?:does|do) ${NAME} import`, ['imports', 'forward', IMPORTS]],
  ] as const
).map(([form, links]) => ({ form: new RegExp(`^${form}[\\s?.!]*$`, 'iu'), links }));

/** Characters of a question; more is a pasted text. */
const MAX_QUESTION = 500;

function codeQuestionOf(query: string): CodeQuestion | null {
  if (query.length > MAX_QUESTION) return null;
  for (const { form, links } of FORMS) {
    const name = form.exec(query.trim())?.groups?.['name'];
    if (name === undefined) continue;
    if (links === null) return { name, links };
    const [verb, direction, relations] = links;
    return { name, links: { verb, direction, relations } };
  }
  return null;
}

/** Nodes of one name told of in an answer. */
const MAX_TOLD = 5;

/** What the graph says to a question about a name of code. Null: it is none, or nothing has the name as it is spelled. */
export function codeAnswer(graph: CodeGraph, query: string): { readonly name: string; readonly text: string } | null {
  const question = codeQuestionOf(query);
  if (question === null) return null;
  const { name, links } = question;
  const nodes = namedNodes(graph, name).filter(({ kind }) => links !== null || kind === 'symbol' || kind === 'route');
  if (nodes.length === 0) return null;
  const lines = nodes.slice(0, MAX_TOLD).map((node) => lineOf(graph, node, links));
  const more = nodes.length > lines.length ? [`and ${nodes.length - lines.length} more of the name`] : [];
  return { name, text: [...lines, ...more].join('\n') };
}

/** The code of a dataset as it is now; only a question of its form makes it read. */
export async function readCodeAnswer(
  { codeGraphs }: { readonly codeGraphs: CodeGraphs },
  { query, nodeSets = [], view }: Pick<SearchRequest, 'query' | 'nodeSets' | 'view'>,
  dataset: DatasetRef,
) {
  const isNarrowed = nodeSets.length > 0 || (view?.asOf ?? null) !== null;
  if (isNarrowed || codeQuestionOf(query) === null) return null;
  return codeAnswer(await codeGraphs.read(dataset), query);
}

function namedNodes(graph: CodeGraph, name: string): readonly CodeNode[] {
  const rated = [...graph.nodes.values()]
    .filter((node) => labelOf(node).includes(name.split(/[:#]/u).at(-1) ?? name))
    .map((node) => ({ node, tier: tierOf(node, name.toLowerCase()) }));
  const best = rated.reduce((most, { tier }) => Math.max(most, tier), 0);
  return best < 2 ? [] : rated.filter(({ tier }) => tier === best).map(({ node }) => node);
}

function lineOf(graph: CodeGraph, node: CodeNode, links: CodeQuestion['links']): string {
  const kind = node.symbolKind ?? node.kind;
  const name = `\`${labelOf(node)}\``;
  if (links === null) return `${name} (${kind}) is defined in ${placeOf(node)}.`;
  const { verb, direction, relations } = links;
  const steps = stepsFrom(graph, node.id, direction, relations);
  const told = linksOf(graph, verb, steps) || `${verb} nothing that is known`;
  const place = node.file === null ? '' : `, ${placeOf(node)}`;
  return `${name} (${kind}${place}) ${direction === 'reverse' ? 'is ' : ''}${told}.`;
}
