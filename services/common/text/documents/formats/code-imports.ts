import type { CodeImport } from '../../../ports/code-facts.ts';

interface Imported {
  readonly path: string;
  readonly names: CodeImport['names'];
}

const ALL: CodeImport['names'] = [['*', '*']];

/** `{ a as b, type C }`, `{ a: b }`, `X`, `* as N`, and several of them. */
export function bindings(text: string): CodeImport['names'] {
  const [, inner] = /\{([^}]*)\}/u.exec(text) ?? [];
  const outer = text.replace(/\{[^}]*\}?/u, '');
  const listed = (inner ?? '').split(',').flatMap((one) => named(one.replace(/^\s*type\s+/u, '')));
  const whole = outer.split(',').flatMap((one): [string, string][] => {
    const [, star, name] = /^\s*(\*\s*as\s+)?([\w$]+)\s*$/u.exec(one) ?? [];
    return name === undefined ? [] : [[name, star === undefined ? 'default' : '*']];
  });
  return [...whole, ...listed];
}

/** `a as b` and `a: b` bind b. */
function named(text: string): (readonly [string, string])[] {
  if (text.trim() === '*') return [['*', '*']];
  const [, there, local = there] = /^\s*([\w$]+)(?:\s*(?:\bas\b|:|=)\s*([\w$]+))?\s*$/u.exec(text) ?? [];
  return there === undefined || local === undefined ? [] : [[local, there]];
}

function lastPart(path: string): string {
  return path.split(/[./:\\]+/u).findLast((part) => part !== '') ?? '';
}

/** Reads an ECMAScript import or the export of another module's names. */
function readModuleImport(text: string): readonly Imported[] {
  const path = /['"]([^'"]+)['"][^'"]*$/u.exec(text.replace(/\bwith\s*\{[^}]*\}\s*;?$/u, ''))?.[1] ?? '';
  const clause = text.slice(0, text.lastIndexOf(path)).replace(/^(?:import|export)\s+(?:type\s+(?=[{*\w]))?/u, '');
  const names = bindings(clause.replace(/\bfrom\s*['"]$/u, '').replace(/['"]$/u, ''));
  return [{ path, names: /^export\s+(?:type\s+)?\*\s*from/u.test(text) ? ALL : names }];
}

function readPythonImport(text: string): readonly Imported[] {
  const from = /^from\s+([\w.]+)\s+import\s+([\s\S]*)$/u.exec(text);
  if (from !== null) {
    const names = (from[2] ?? '')
      .replaceAll(/#.*$|[()\\]/gmu, '')
      .split(',')
      .flatMap(named);
    return [{ path: from[1] ?? '', names }];
  }
  return text
    .replace(/^import\s+/u, '')
    .split(',')
    .map((one) => {
      const [path = '', local = lastPart(path)] = one.trim().split(/\s+as\s+/u);
      return { path, names: [[local, '*']] };
    });
}

/** `"a/b"`, `c "a/b"`, `#include "a.h"`. */
function readQuotedImport(text: string): readonly Imported[] {
  const [, alias, path = ''] = /^(?:#\s*include\s*|([\w.]+)\s+)?["<]([^">]+)[">]/u.exec(text) ?? [];
  return [{ path, names: text.startsWith('#') ? ALL : [[alias ?? lastPart(path), '*']] }];
}

/** `import a.b.C;`, `use a::b::{c, d as e};`, `using A.B;`. */
function readDotted(text: string): readonly Imported[] {
  const bare = text
    .replace(/^(?:pub(?:\([^)]*\))?\s+)?(?:import|using|use)\s+(?:static\s+|function\s+|const\s+)?/u, '')
    .replace(/;\s*$/u, '');
  const [, prefix = '', list] = /^([\w.:\\]+?)(?:::|\\)?\{([\s\S]*)\}$/u.exec(bare) ?? [];
  if (list !== undefined) return [{ path: prefix, names: list.split(',').flatMap(named) }];
  const [path = '', alias] = bare.split(/\s+as\s+/u);
  if (path.endsWith('*')) return [{ path: path.replace(/[.:\\]*\*$/u, ''), names: ALL }];
  const last = lastPart(path);
  return [{ path, names: text.startsWith('using') ? ALL : [[alias ?? last, last]] }];
}

const READERS: Readonly<Record<string, (text: string) => readonly Imported[]>> = {
  typescript: readModuleImport,
  tsx: readModuleImport,
  javascript: readModuleImport,
  python: readPythonImport,
  go: readQuotedImport,
  c: readQuotedImport,
  cpp: readQuotedImport,
};

/** What the text of an import brings in. */
export function readImport(text: string, language: string): readonly Imported[] {
  return READERS[language]?.(text) ?? readDotted(text);
}
