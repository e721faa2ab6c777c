import { type EngramError, engramError } from '../../../common/kernel/errors.ts';
import { ownValue } from '../../../common/kernel/json.ts';
import { type CodeGraph, placeOf, withoutExtension } from './code-graph.ts';
import type { CodeNode } from './code-node.ts';

export type CodeQuery = Readonly<Record<string, unknown>>;

type CodeError = 'unknown_operation' | 'invalid_argument' | 'not_found' | 'ambiguous' | 'no_code_graph';

export function codeError(code: CodeError, message: string, param?: string): EngramError {
  return engramError('CodeSearchValidationError', message, {
    extra: { code, ...(param === undefined ? {} : { param }) },
  });
}

function invalid(param: string, wanted: string): EngramError {
  return codeError('invalid_argument', `CODE ${param} must be ${wanted}.`, param);
}

/** `'up'; expected one of forward, reverse`. */
export function oneOf(value: unknown, known: readonly string[]): string {
  return `'${typeof value === 'string' ? value : JSON.stringify(value)}'; expected one of ${known.join(', ')}`;
}

/** The first of the keys that the query gives, with its value. */
function given(query: CodeQuery, keys: readonly string[]): readonly [string, unknown] | null {
  for (const key of keys) {
    const value = ownValue(query, key);
    if (value !== undefined && value !== null) return [key, value];
  }
  return null;
}

/** A whole number: the default for none and for 0 and below, never above the cap. */
export function count(query: CodeQuery, key: string, [byDefault, cap]: readonly [number, number]): number {
  const [, value] = given(query, [key]) ?? [key, byDefault];
  if (!Number.isInteger(value)) throw invalid(key, 'an integer');
  return (value as number) <= 0 ? byDefault : Math.min(value as number, cap);
}

export function offsetOf(query: CodeQuery): number {
  const [, value] = given(query, ['offset']) ?? ['offset', 0];
  if (!Number.isInteger(value) || (value as number) < 0) throw invalid('offset', 'a non-negative integer');
  return value as number;
}

export function text(query: CodeQuery, ...keys: readonly string[]): string | null {
  const [key = '', value] = given(query, keys) ?? [];
  if (value === undefined) return null;
  if (typeof value !== 'string') throw invalid(key, 'a string');
  return value.trim() === '' ? null : value.trim();
}

/** The texts of all the keys; each takes one text or a list. */
export function texts(query: CodeQuery, ...keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => {
    const [, value] = given(query, [key]) ?? [];
    const list = value === undefined ? [] : [value].flat();
    if (!list.every((one) => typeof one === 'string')) throw invalid(key, 'a string or a list of strings');
    return list.map((one) => one.trim()).filter((one) => one !== '');
  });
}

export function flag(query: CodeQuery, byDefault: boolean, ...keys: readonly string[]): boolean {
  const [key = '', value] = given(query, keys) ?? [];
  if (value === undefined) return byDefault;
  if (typeof value !== 'boolean') throw invalid(key, 'true or false');
  return value;
}

export type Direction = 'forward' | 'reverse' | 'both';

export function directionOf(query: CodeQuery, byDefault: Direction): Direction {
  const direction = text(query, 'direction') ?? byDefault;
  if (direction === 'forward' || direction === 'reverse' || direction === 'both') return direction;
  throw invalid('direction', "'forward', 'reverse', or 'both'");
}

/** Kinds or types, in lower case; those of the contract that no file yields are known and find nothing. */
export function kindsOf(query: CodeQuery, ...keys: readonly string[]): readonly string[] {
  return texts(query, ...keys).map((kind) => kind.toLowerCase());
}

export function relationsOf(query: CodeQuery): readonly string[] {
  return texts(query, 'relation_types', 'relation_kinds', 'relation').map((one) => one.toLowerCase());
}

/** The node that an id or a name means: of an exact name, of a short name or of a part of a name (search-recall.md §3.16). */
export function resolveSeed(
  graph: CodeGraph,
  seed: string,
  { what, param, repo }: { readonly what: string; readonly param: string; readonly repo: string | null },
): CodeNode {
  const asked = seed.toLowerCase();
  const nodes = [...graph.nodes.values()].filter((node) => repo === null || node.repo === repo);
  const rated = nodes.map((node) => ({ node, tier: tierOf(node, asked) }));
  const best = rated.reduce((most, { tier }) => Math.max(most, tier), 0);
  const alike = best === 0 ? [] : rated.filter(({ tier }) => tier === best).map(({ node }) => node);
  // `engramError` makes an `EngramError`.
  const exact = alike.filter(({ name }) => name === seed);
  const found = exact.length > 0 ? exact : alike;
  const [only, ...others] = found;
  if (only === undefined) {
    throw codeError('not_found', `CODE could not resolve ${what} ${param} '${seed}'.`, param);
  }
  if (others.length === 0) return only;
  const shown = found.slice(0, 10).map((node) => `${labelOf(node)} [${placeOf(node)}, id=${node.id}]`);
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : '';
  const message = `CODE ${what} ${param} '${seed}' is ambiguous; use an exact id, a file or repo. Candidates: ${shown.join(', ')}${more}.`;
  throw codeError('ambiguous', message, param);
}

/** `GET /orders` for a route, which others may share the address with. */
export function labelOf({ name, properties }: CodeNode): string {
  const method = properties?.['method'];
  return typeof method === 'string' ? `${method} ${name}` : name;
}

/** The name that others import a symbol under, where it is another one. */
export function aliasOf({ properties }: CodeNode): string | null {
  const alias = properties?.['exported_as'];
  return typeof alias === 'string' ? alias : null;
}

/**
 * How well a name in lower case means a node: 3 exactly, 2 as a short name, 1 as a part, 0 not at all. `src/a.ts:run` and
 * `src/a.ts#run` are the symbol of one file.
 */
export function tierOf(node: CodeNode, asked: string): 0 | 1 | 2 | 3 {
  const { id, name, kind, file } = node;
  const own = name.toLowerCase();
  if (own === asked || id === asked || labelOf(node).toLowerCase() === asked) return 3;
  if (aliasOf(node)?.toLowerCase() === asked) return 3;
  if (kind === 'symbol' && /[:#]/u.test(asked)) {
    const [, inFile = '', symbol] = /^(.+?)[:#]([^:#].*)$/u.exec(asked) ?? [];
    const isThere = file?.toLowerCase() === inFile || file?.toLowerCase().endsWith(`/${inFile}`) === true;
    if (isThere && (symbol === own || own.endsWith(`.${symbol}`))) return symbol === own ? 3 : 2;
  }
  const base = own.split('/').at(-1) ?? own;
  const isShort = base === asked || withoutExtension(base) === asked || own.endsWith(`/${asked}`);
  // The last part of a file's name is its extension.
  if (isShort || (kind !== 'module' && own.endsWith(`.${asked}`))) return 2;
  return own.includes(asked) ? 1 : 0;
}
