import type { DatasetRef } from '../../../common/kernel/dataset.ts';
import type { SearchRequest } from '../../model.ts';
import { type CodeGraph, type CodeGraphs, placeOf } from './code-graph.ts';
import type { CodeNode } from './code-node.ts';
import { USES } from './operations.ts';
import { aliasOf, type Direction, labelOf, tierOf } from './options.ts';
import { routesAt } from './routes-at.ts';
import { linksOf } from './survey.ts';
import { stepsFrom, stepsWithMembers, walk } from './walk.ts';

/** What a question asks of the nodes of a name. */
type Asked =
  | { readonly kind: 'place' | 'impact' | 'routes' }
  | {
      readonly kind: 'links';
      readonly verb: string;
      readonly direction: Direction;
      readonly relations: readonly string[];
      /** Kinds of symbols that are asked for; absent: all. */
      readonly symbols?: readonly string[];
    };

interface CodeQuestion {
  /** '' for all of the code. */
  readonly name: string;
  readonly asked: Asked;
}

const KIND =
  '(?:the )?(?:(?:function|method|class|type|interface|struct|trait|variable|constant|file|module|package|symbol) )?';
const NAME = `${KIND}[\`'"]?(?<name>[\\p{L}_$@./][\\p{L}\\p{N}_$@./:#-]*?)(?:\\(\\))?[\`'"]?`;
const VERB = '(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY)';
const ROUTE = `(?:the )?(?:(?:HTTP )?(?:route|endpoint|path|requests?)(?: (?:to|for|of))? )?[\`'"]?(?<name>(?:${VERB} )?/\\S*?)[\`'"]?(?: (?:requests?|route|endpoint))?`;
const WHO = '(?:who|what|which \\p{L}+)';
const HANDLER = '(?:(?:which|what) )?(?:(?:HTTP )?(?:handler|function|method|controller|code|class|file) )';
const OWN = '(?:is |are )?(?:defined |declared |exported )?';
const CALLS = ['calls'];
const IMPORTS = ['imports'];
const BASES = ['extends', 'implements'];
const FUNCTIONS = ['function', 'method'];
const TYPES = ['class', 'interface', 'type', 'enum'];

function links(verb: string, direction: Direction, relations: readonly string[], symbols?: readonly string[]): Asked {
  return { kind: 'links', verb, direction, relations, ...(symbols && { symbols }) };
}

/** Forms of questions about a name of code, with what answers them. */
const FORMS = (
  [
    [
      `${HANDLER}(?:handles|serves|answers|implements|is (?:called|run|responsible) (?:for|by|on)) ${ROUTE}`,
      links('handled by', 'forward', ['handled_by']),
    ],
    [`(?:what|who) (?:handles|serves|answers) ${ROUTE}`, links('handled by', 'forward', ['handled_by'])],
    [`(?:what|which) is the handler (?:of|for) ${ROUTE}`, links('handled by', 'forward', ['handled_by'])],
    [
      `where (?:is|are) ${ROUTE} (?:handled|served|implemented|defined|declared|answered)`,
      links('handled by', 'forward', ['handled_by']),
    ],
    [
      `(?:which|what) (?:HTTP )?(?:routes|endpoints)(?: (?:are there|are defined|are declared|exist|do we have|does (?:it|the (?:API|service|server|app)) (?:have|serve|expose)))?`,
      { kind: 'routes' },
    ],
    [`list (?:all )?(?:the )?(?:HTTP )?(?:routes|endpoints)`, { kind: 'routes' }],
    [
      `what (?:breaks|would break|is affected|are affected|could break|depends on it) (?:if|when) (?:I|we|you|someone|somebody) (?:change|changes|rename|renames|delete|deletes|remove|removes|modify|modifies|break|breaks) ${NAME}`,
      { kind: 'impact' },
    ],
    [
      `(?:where|in (?:which|what) (?:file|module)) (?:is|are|was) ${NAME} (?:defined|declared|implemented)`,
      { kind: 'place' },
    ],
    [`where (?:do|did) (?:we|you|they|I) (?:define|declare|implement) ${NAME}`, { kind: 'place' }],
    [
      `${WHO} (?:implements?|extends?|inherits from|derives from) ${NAME}`,
      links('implemented or extended by', 'reverse', BASES),
    ],
    [`what (?:does|do) ${NAME} (?:implement|extend|inherit from|derive from)`, links('extends', 'forward', BASES)],
    [`${WHO} (?:calls?|invokes?) ${NAME}`, links('called by', 'reverse', CALLS)],
    [`(?:where|by (?:whom|what)) is ${NAME} (?:called|invoked)`, links('called by', 'reverse', CALLS)],
    [`${WHO} (?:uses?|references?|depends? on) ${NAME}`, links('used by', 'reverse', USES)],
    [`(?:where|by (?:whom|what)) is ${NAME} (?:used|referenced)`, links('used by', 'reverse', USES)],
    [`${WHO} imports? ${NAME}`, links('imported by', 'reverse', IMPORTS)],
    [`(?:where|by (?:whom|what)) is ${NAME} imported`, links('imported by', 'reverse', IMPORTS)],
    [`what (?:does|do) ${NAME} (?:call|invoke)`, links('calls', 'forward', CALLS)],
    [`what (?:does|do) ${NAME} (?:use|depend on)`, links('uses', 'forward', USES)],
    [`what (?:does|do) ${NAME} import`, links('imports', 'forward', IMPORTS)],
    [
      `(?:which|what) (?:functions|methods) (?:does|do) ${NAME} (?:have|define|declare|export|contain|offer|provide)`,
      links('defines', 'forward', ['defines'], FUNCTIONS),
    ],
    [
      `(?:which|what) (?:functions|methods) are ${OWN}(?:in|by|on|of) ${NAME}`,
      links('defines', 'forward', ['defines'], FUNCTIONS),
    ],
    [
      `(?:which|what) (?:classes|types|interfaces) are ${OWN}(?:in|by|on|of) ${NAME}`,
      links('defines', 'forward', ['defines'], TYPES),
    ],
    [`what (?:does|do) ${NAME} (?:define|declare|export|contain)`, links('defines', 'forward', ['defines'])],
    [`what is ${OWN}in ${NAME}`, links('defines', 'forward', ['defines'])],
  ] as const
).map(([form, asked]) => ({ form: new RegExp(`^${form}[\\s?.!]*$`, 'iu'), asked: asked as Asked }));

/** Characters of a question; more is a pasted text. */
const MAX_QUESTION = 500;

function codeQuestionOf(query: string): CodeQuestion | null {
  if (query.length > MAX_QUESTION) return null;
  for (const { form, asked } of FORMS) {
    const found = form.exec(query.trim());
    if (found !== null) return { name: found.groups?.['name'] ?? '', asked };
  }
  return null;
}

/** Nodes of one name told of in an answer. */
const MAX_TOLD = 5;

/** What the graph says to a question about a name of code. Null: it is none, or nothing has the name as it is spelled. */
export function codeAnswer(graph: CodeGraph, query: string): { readonly name: string; readonly text: string } | null {
  const question = codeQuestionOf(query);
  if (question === null) return null;
  const { name, asked } = question;
  if (asked.kind === 'routes') return listOfRoutes(graph);
  const isPlaced = ({ kind }: CodeNode) => asked.kind !== 'place' || kind === 'symbol' || kind === 'route';
  const nodes = (name.includes(' ') || name.startsWith('/') ? routesAt(graph, name) : namedNodes(graph, name)).filter(
    isPlaced,
  );
  if (nodes.length === 0) return basedOn(graph, question);
  const lines = nodes.slice(0, MAX_TOLD).map((node) => lineOf(graph, node, asked));
  const more = nodes.length > lines.length ? [`and ${nodes.length - lines.length} more of the name`] : [];
  return { name, text: [...lines, ...more].join('\n') };
}

/** Routes told of in a list. */
const MAX_ROUTES = 50;

function listOfRoutes(graph: CodeGraph): { readonly name: string; readonly text: string } | null {
  const routes = [...graph.nodes.values()].filter(({ kind }) => kind === 'route');
  if (routes.length === 0) return null;
  const lines = routes.slice(0, MAX_ROUTES).map((node) => {
    const by = linksOf(graph, 'handled by', stepsFrom(graph, node.id, 'forward', ['handled_by']));
    return `\`${labelOf(node)}\` (${placeOf(node)})${by === '' ? '' : ` ${by}`}`;
  });
  const more = routes.length > lines.length ? [`and ${routes.length - lines.length} more`] : [];
  return { name: 'routes', text: [...lines, ...more].join('\n') };
}

/** Classes that name a base which no file of the dataset defines: `Who implements CanActivate?` */
function basedOn(graph: CodeGraph, { name, asked }: CodeQuestion) {
  if (asked.kind !== 'links' || asked.relations !== BASES || asked.direction !== 'reverse') return null;
  const found = [...graph.nodes.values()].filter(({ properties }) => {
    const bases = properties?.['bases'];
    return Array.isArray(bases) && bases.includes(name);
  });
  if (found.length === 0) return null;
  const names = found.slice(0, MAX_TOLD).map((node) => `${labelOf(node)} (${placeOf(node)})`);
  const more = found.length > names.length ? ` and ${found.length - names.length} more` : '';
  return { name, text: `\`${name}\` is ${asked.verb} ${names.join(', ')}${more}.` };
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
  const part = name.split(/[:#]/u).at(-1) ?? name;
  const rated = [...graph.nodes.values()]
    .filter((node) => labelOf(node).includes(part) || aliasOf(node) === name)
    .map((node) => ({ node, tier: tierOf(node, name.toLowerCase()) }));
  const best = rated.reduce((most, { tier }) => Math.max(most, tier), 0);
  return best < 2 ? [] : rated.filter(({ tier }) => tier === best).map(({ node }) => node);
}

function lineOf(graph: CodeGraph, node: CodeNode, asked: Asked): string {
  const kind = node.symbolKind ?? node.kind;
  const alias = aliasOf(node);
  const name = `\`${labelOf(node)}\`${alias === null ? '' : `, exported as \`${alias}\`,`}`;
  if (asked.kind === 'place') return `${name} (${kind}) is defined in ${placeOf(node)}.`;
  const place = node.file === null ? '' : `, ${placeOf(node)}`;
  if (asked.kind !== 'links') return `${name} (${kind}${place}) ${impactOf(graph, node)}`;
  const { verb, direction, relations, symbols } = asked;
  const steps = stepsWithMembers(graph, node, direction, relations).filter(({ next }) => {
    return symbols === undefined || symbols.includes(graph.nodes.get(next)?.symbolKind ?? '');
  });
  const isPassive = direction === 'reverse' || (relations.includes('handled_by') && relations.length === 1);
  const told = linksOf(graph, verb, steps) || `${verb} nothing that is known`;
  return `${name} (${kind}${place}) ${isPassive ? 'is ' : ''}${told}.`;
}

const MAX_MEMBERS = 200;

/** `is used by Invoice.gross (invoices.py:21), and through that by issue_invoice (invoices.py:26).` */
function impactOf(graph: CodeGraph, node: CodeNode): string {
  const { found, edges } = walk(graph, [node], {
    direction: 'reverse',
    maxDepth: 3,
    maxNodes: MAX_MEMBERS,
    relations: USES,
  });
  const stated = (depth: (value: number) => boolean) =>
    found
      .filter((one) => one.depth > 0 && depth(one.depth))
      .flatMap((one) => {
        const edge = edges.find(({ source }) => source === one.node.id);
        return edge === undefined ? [] : [{ edge, next: one.node.id }];
      });
  const direct = linksOf(
    graph,
    'used by',
    stated((depth) => depth === 1),
  );
  if (direct === '') return 'is used by nothing that is known.';
  const further = linksOf(
    graph,
    'through that by',
    stated((depth) => depth > 1),
  );
  return `is ${direct}${further === '' ? '' : `, and ${further}`}.`;
}
