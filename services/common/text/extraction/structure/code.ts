import type { Fact } from './fact.ts';

/** Matches what a file of code imports, over the languages in use. */
const IMPORTS =
  /^[ \t]{0,40}(?:import|export)\b[^'"\n;]{0,300}?(?:\bfrom\s*)?['"]([^'"\n]+)['"]|\brequire\(\s*['"]([^'"\n]+)['"]\s*\)|^[ \t]{0,40}\}\s*from\s*['"]([^'"\n]+)['"]|^[ \t]{0,40}from\s+([\w.]+)\s+import\b|^[ \t]{0,40}(?:import|using|use)\s+(?:static\s+)?([\w.:]+)(?:\s+as\s+\w+)?\s*;?\s*$|^[ \t]{0,40}#include\s*[<"]([^>"\n]+)[>"]/gmu;
const CLASS = /\b(?:class|interface|struct|enum|trait|protocol|record|object)\s+\w/u;
const FUNCTION = /\b(?:function|def|fn|func|fun|sub|proc)\b|=>|\)\s*(?::[^={]+)?\{/u;

/** Characters of a line that tell what it defines. */
const MAX_HEAD = 300;

/** The definition that a part of a file holds, and its imports. `file`: with its extension. */
export function readCode(text: string, symbol: string | undefined, file: string): Fact[] {
  const module = { name: file, type: 'Module' };
  const facts: Fact[] = [];
  for (const [line, ...paths] of text.matchAll(IMPORTS)) {
    const path = paths.find((one) => one !== undefined);
    const name = path === undefined ? '' : moduleName(path);
    if (name !== '' && name !== file)
      facts.push({ subject: module, relation: 'import', value: { name, type: 'Module' }, evidence: line.trim() });
  }
  if (symbol === undefined) return facts;
  const last = symbol.split(/\.|::/u).at(-1) ?? '';
  const head = (text.split('\n').find((line) => line.includes(last)) ?? '').slice(0, MAX_HEAD);
  const type = CLASS.test(head) ? 'Class' : FUNCTION.test(head) ? 'Function' : 'Concept';
  const owner = symbol.includes('.') ? symbol.slice(0, symbol.lastIndexOf('.')) : null;
  const subject = owner === null ? module : { name: owner, type: 'Class' };
  return [...facts, { subject, relation: 'define', value: { name: symbol, type }, evidence: head.trim() }];
}

/** `../common/async.ts` is the file, `node:fs` and `koa` are packages. */
function moduleName(path: string): string {
  return /^\.{0,2}\//u.test(path) ? (path.split('/').at(-1) ?? '') : path;
}
