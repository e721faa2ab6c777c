import type { Node } from 'web-tree-sitter';
import type { CodeRoute } from '../../../ports/code-facts.ts';

/** Node types of decorators, annotations and attributes, over all grammars in use. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(['decorator', 'annotation', 'marker_annotation', 'attribute']);

/** `@Get(':id')`, `@RequestMapping(path = "/x")`, `[HttpGet("{id}")]`, `#[get("/x")]`: one that is about a route. */
export interface RouteAnnotation {
  readonly name: string;
  /** As the file writes them; '' without any. */
  readonly given: string;
  readonly line: number;
}

/** The class or function that annotations stand at. */
export interface Annotated {
  /** Qualified: `OrdersController.findOne`. */
  readonly name: string;
  /** Place among the definitions of the file. */
  readonly by: number;
  readonly annotations: readonly RouteAnnotation[];
}

/** Characters of an annotation that are read. */
const MAX_READ = 2000;
const VERB = 'Get|Post|Put|Patch|Delete|Head|Options';
/** Those of NestJS and Micronaut, of Spring, of ASP.NET and of JAX-RS, and of the frameworks of Rust. */
const METHOD = new RegExp(
  `^(?:Http)?(${VERB}|All)(?:Mapping)?$|^(${VERB.toUpperCase()})$|^(${VERB.toLowerCase()})$`,
  'u',
);
const ANY_METHOD = /^(?:RequestMapping|Route)$/u;
const PATH_ALONE = /^(?:Path|Route|RoutePrefix)$/u;
const CONTROLLER = /^(?:Rest|Json|Api)?Controller$/u;

export function readAnnotation(node: Node): RouteAnnotation | null {
  const [, name = '', given = ''] = /^@?([\w.\\]+)\s*(?:\(([\s\S]*)\)\s*)?$/u.exec(node.text.slice(0, MAX_READ)) ?? [];
  const own = name.split(/[.\\]/u).at(-1) ?? '';
  const isKnown = [METHOD, ANY_METHOD, PATH_ALONE, CONTROLLER].some((known) => known.test(own));
  return isKnown ? { name: own, given, line: node.startPosition.row + 1 } : null;
}

/** The routes that annotations of functions state, below the paths of their classes. */
export function annotatedRoutes(all: readonly Annotated[], language: string): readonly CodeRoute[] {
  const owners = new Map(all.map((one) => [one.name, one]));
  return all.flatMap((one) => {
    const owner = owners.get(one.name.slice(0, Math.max(0, one.name.lastIndexOf('.'))));
    // Without a class that says so, a decorator `@Get` is of something else.
    if (owner === undefined && language !== 'rust') return [];
    const prefixes = owner === undefined ? [''] : prefixesOf(owner, language);
    return prefixes.flatMap((prefix) => routesOf(one, prefix, language));
  });
}

function prefixesOf({ name, annotations }: Annotated, language: string): readonly string[] {
  const stated = annotations.flatMap(({ name: annotation, given }) => {
    const found = pathsIn(given);
    // The text of Spring's `@RestController` is the name of a bean.
    return CONTROLLER.test(annotation) && language === 'java' ? found.filter((path) => path.startsWith('/')) : found;
  });
  const own = name.split('.').at(-1) ?? name;
  const paths = stated.map((path) => path.replace('[controller]', own.replace(/Controller$/u, '').toLowerCase()));
  return paths.length === 0 ? [''] : paths;
}

function routesOf({ name, by, annotations }: Annotated, prefix: string, language: string): readonly CodeRoute[] {
  const stated = annotations.filter(({ name: one }) => METHOD.test(one));
  const general = annotations.filter(({ name: one }) => ANY_METHOD.test(one));
  const apart = annotations.filter(({ name: one }) => PATH_ALONE.test(one)).flatMap(({ given }) => pathsIn(given));
  return (stated.length > 0 ? stated : general).flatMap(({ name: annotation, given, line }) => {
    const own = pathsIn(given);
    const paths = own.length > 0 ? own : apart.length > 0 ? apart : [''];
    return methodsOf(annotation, given).flatMap((method) =>
      paths.map((path): CodeRoute => {
        const isWhole = language === 'csharp' && /^~?\//u.test(path);
        const address = isWhole ? path.replace('~', '') : joined(prefix, path);
        return { method, path: address.replace('[action]', name.split('.').at(-1) ?? ''), line, handler: name, by };
      }),
    );
  });
}

function methodsOf(name: string, given: string): readonly string[] {
  const [, ...found] = METHOD.exec(name) ?? [];
  const verb = found.find((one) => one !== undefined)?.toUpperCase();
  if (verb !== undefined) return [verb === 'ALL' ? 'ANY' : verb];
  const [, listed = ''] = /\bmethods?\s*[:=]\s*([^=]*)/u.exec(given) ?? [];
  const methods = listed.toUpperCase().match(new RegExp(`\\b(?:${VERB.toUpperCase()})\\b`, 'gu')) ?? [];
  return methods.length === 0 ? ['ANY'] : [...new Set(methods)];
}

const NAMED = /\b(\w{1,40})\s*[:=](?!=)/gu;

/** `'x'`, `["a", "b"]`, `{ path: 'x' }`, `value = "/x", consumes = "…"`. */
function pathsIn(given: string): readonly string[] {
  const bare = given.replaceAll(
    /(["'`])(?:(?!\1)[^\\\n]|\\.)*\1/gu,
    (text) => text[0] + ' '.repeat(text.length - 2) + text[0],
  );
  const names = [...bare.matchAll(NAMED)];
  const at = names.findIndex(([, name = '']) => /^(?:path|value|template)$/u.test(name));
  const start = at < 0 ? 0 : (names[at]?.index ?? 0);
  const end = names[at + 1]?.index ?? given.length;
  return [...given.slice(start, end).matchAll(/(["'`])([^"'`\n]*)\1/gu)].map(([, , path = '']) => path);
}

export function joined(prefix: string, path: string): string {
  const parts = [prefix, path].map((part) => part.replaceAll(/^\/+|\/+$/gu, '')).filter((part) => part !== '');
  return `/${parts.join('/')}`;
}
