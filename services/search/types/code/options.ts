import { type EngramError, engramError } from '../../../common/kernel/errors.ts';
import { ownValue } from '../../../common/kernel/json.ts';
import { type CodeGraph, type CodeNode, withoutExtension } from './code-graph.ts';

export type CodeQuery = Readonly<Record<string, unknown>>;

type CodeError = 'unknown_operation' | 'invalid_argument' | 'not_found' | 'ambiguous' | 'no_code_graph';

export function codeError(code: CodeError, message: string, param?: string): EngramError {
  return engramError('CodeSearchValidationError', message, {
    extra: { code, ...(param === undefined ? {} : { param }) },
  });
}

function invalid(param: string, wanted: string): EngramError {
  return codeError('invalid_argument', `CODE option '${param}' must be ${wanted}.`, param);
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
  if (!Number.isInteger(value) || (value as number) < 0) throw invalid('offset', 'an integer of at least 0');
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
  throw invalid('direction', 'forward, reverse or both');
}

/** Kinds or types, in lower case; those of the contract that no file yields are known and find nothing. */
export function kindsOf(query: CodeQuery, ...keys: readonly string[]): readonly string[] {
  return texts(query, ...keys).map((kind) => kind.toLowerCase());
}

export function relationsOf(query: CodeQuery): readonly string[] {
  return texts(query, 'relation_types', 'relation_kinds', 'relation').map((one) => one.toLowerCase());
}

export const NO_CODE = 'The dataset holds no code: add source files and run cognify.';

/** The node that an id or a name means: of an exact name, of a short name or of a part of a name (search-recall.md §3.16). */
export function resolveSeed(
  graph: CodeGraph,
  seed: string,
  { operation, param, repo }: { readonly operation: string; readonly param: string; readonly repo: string | null },
): CodeNode {
  const asked = seed.toLowerCase();
  const nodes = [...graph.nodes.values()].filter((node) => repo === null || node.repo === repo);
  const rated = nodes.map((node) => ({ node, tier: tierOf(node, asked) }));
  const best = rated.reduce((most, { tier }) => Math.max(most, tier), 0);
  const found = best === 0 ? [] : rated.filter(({ tier }) => tier === best).map(({ node }) => node);
  const [only, ...others] = found;
  if (only === undefined) {
    const hint = graph.nodes.size === 0 ? ` ${NO_CODE}` : '';
    throw codeError('not_found', `CODE could not resolve ${operation} seed ${param} '${seed}'.${hint}`, param);
  }
  if (others.length === 0) return only;
  const shown = found.slice(0, 10).map(({ name, kind, file, id }) => `${name} (${kind}, ${file ?? id})`);
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : '';
  const message = `CODE ${operation} seed ${param} '${seed}' is ambiguous: ${shown.join(', ')}${more}.`;
  throw codeError('ambiguous', message, param);
}

/** How well a name in lower case means a node: 3 exactly, 2 as a short name, 1 as a part, 0 not at all. */
export function tierOf({ id, name, kind }: CodeNode, asked: string): 0 | 1 | 2 | 3 {
  const own = name.toLowerCase();
  if (own === asked || id === asked) return 3;
  const base = own.split('/').at(-1) ?? own;
  const isShort = base === asked || withoutExtension(base) === asked || own.endsWith(`/${asked}`);
  // The last part of a file's name is its extension.
  if (isShort || (kind !== 'module' && own.endsWith(`.${asked}`))) return 2;
  return own.includes(asked) ? 1 : 0;
}
