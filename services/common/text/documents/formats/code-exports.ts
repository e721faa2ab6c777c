import type { Node } from 'web-tree-sitter';
import type { CodeExport } from '../../../ports/code-facts.ts';

/** Characters of an export that are read. */
const MAX_READ = 10_000;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}/u;
const DEFAULT =
  /^export\s*(?:=|\s+default\b)\s*(?:(?:async\s+)?function\b\s*\*?\s*|(?:abstract\s+)?class\s+)?([\w$]+)\s*(?=[;({<\s]|$)/u;
/** `export default memo(Card)` exports what a call returns; a word of the language names nothing. */
const NO_NAME = /^(?:async|function|class|new|await|extends|abstract|null|true|false|interface|enum)$/u;

/** Reads the names that an `export` without a source gives: of its list, or of the default. */
export function readExports(text: string): readonly CodeExport[] {
  const [, listed] = LISTED.exec(text.slice(0, MAX_READ)) ?? [];
  if (listed !== undefined) {
    return listed.split(',').flatMap((one): CodeExport[] => {
      const [, local, exported = local] = /^\s*(?:type\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/u.exec(one) ?? [];
      return local === undefined || exported === undefined ? [] : [[local, exported]];
    });
  }
  const head = text.slice(0, 300);
  const [whole, name] = DEFAULT.exec(head) ?? [];
  if (whole === undefined || name === undefined || NO_NAME.test(name)) return [];
  const isCall = head[whole.length] === '(' && !/\bfunction\b/u.test(whole);
  return isCall ? [] : [[name, 'default']];
}

/** `module.exports`, `exports.name`, `module.exports.name`. */
const COMMON_JS = /^(?:module\.exports|(?:module\.)?exports\.([\w$]+))$/u;

/** The exports of CommonJS that an assignment is: null when it is none. `name`: null for the module as a whole. */
export function commonExport(assignment: Node): { readonly name: string | null; readonly value: Node | null } | null {
  const left = assignment.childForFieldName('left');
  if (left === null || left.endIndex - left.startIndex > 200) return null;
  const found = COMMON_JS.exec(left.text);
  return found === null ? null : { name: found[1] ?? null, value: assignment.childForFieldName('right') };
}

/** `module.exports = { a, b: c }`, `module.exports = a`, `exports.b = a`. */
export function readCommonExports(name: string | null, value: Node | null): readonly CodeExport[] {
  if (value?.type === 'identifier') return [[value.text, name ?? 'default']];
  if (name !== null || value?.type !== 'object') return [];
  return value.namedChildren.flatMap((entry): CodeExport[] => {
    if (entry.type === 'shorthand_property_identifier') return [[entry.text, entry.text]];
    const [key, local] = [entry.childForFieldName('key'), entry.childForFieldName('value')];
    return entry.type === 'pair' && local?.type === 'identifier' && key !== null ? [[local.text, key.text]] : [];
  });
}

/** `__all__ = ["a", "b"]` of Python. */
export function readAll(assignment: Node): readonly CodeExport[] {
  const value = assignment.childForFieldName('right')?.text.slice(0, MAX_READ) ?? '';
  return [...value.matchAll(/['"]([\p{L}_][\p{L}\p{N}_]*)['"]/gu)].map(([, name = '']) => [name, name]);
}
