import { isGeneratedName } from '../../../domain/index-rows.ts';
import { folderOf, joinPath } from '../../../domain/source-place.ts';
import type { ExtractionInput, TextPart } from '../../../ports/extractor.ts';
import { isCommonWord } from '../../language/common-words.ts';
import type { Fact, Reading } from './fact.ts';
import { readKeyValues, readRecords } from './records.ts';
import { readTable } from './tables.ts';

interface Structure {
  /** The text with everything that is no prose replaced by line breaks: offsets stay. */
  readonly prose: string;
  readonly facts: readonly Fact[];
}

/** Separates what the structure of a text states from its prose. */
export function readStructure(input: ExtractionInput): Structure {
  const facts: Fact[] = [];
  let prose = '';
  let at = 0;
  for (const part of input.parts ?? []) {
    const text = input.text.slice(part.start, part.end);
    const reading = readPart(text, part, input);
    for (const fact of reading.facts) facts.push(fact);
    for (const { start, end } of reading.skipped) {
      if (end <= start) continue;
      prose += input.text.slice(at, part.start + start) + '\n'.repeat(end - start);
      at = part.start + end;
    }
  }
  prose += input.text.slice(at);
  return { prose: prose.includes('```') || prose.includes('~~~') ? withoutFences(prose) : prose, facts };
}

function readPart(text: string, part: TextPart, input: ExtractionInput): Reading {
  const whole = [{ start: 0, end: text.length }];
  switch (part.kind) {
    case 'heading':
      return { facts: [], skipped: whole };
    case 'code': {
      const isFile = input.format === 'code' && input.fileName !== undefined;
      return { facts: isFile ? readCode(text, part.symbol, input.fileName) : [], skipped: whole };
    }
    case 'table':
      return readTable(text);
    case 'record':
      return readRecords(text, aboutOf(part, input), input.format === 'yaml');
    case 'paragraph':
    case 'list-item':
      return text.includes(':') ? readKeyValues(text, aboutOf(part, input)) : { facts: [], skipped: [] };
    default:
      return { facts: [], skipped: [] };
  }
}

/** Lines that open or close code: they stand in the text of the block before. */
function withoutFences(text: string): string {
  return text.replace(/^[ \t>]*(?:`{3,}|~{3,})[^\n]*$/gmu, (line) => '\n'.repeat(line.length));
}

/** The innermost heading that names something (`Sarah Lee`, not `Contact`), else the title or the name of the document. */
function aboutOf({ headings }: TextPart, input: ExtractionInput): string | null {
  const names = [...(headings ?? input.headings)].reverse();
  const own = names.find((name) => name.split(' ').some((word) => !isCommonWord(word.toLowerCase())));
  const name = own ?? input.title ?? input.documentName;
  return isGeneratedName(name) ? null : name;
}

/** Matches what a file of code imports, over the languages in use. */
const IMPORTS =
  /^[ \t]{0,40}(?:import\b[^'"\n;]{0,300}?|export\b[^'"\n;]{0,300}?\bfrom\s*)['"]([^'"\n]+)['"]|\brequire\(\s*['"]([^'"\n]+)['"]\s*\)|^[ \t]{0,40}\}\s*from\s*['"]([^'"\n]+)['"]|^[ \t]{0,40}from\s+([\w.]+)\s+import\b|^[ \t]{0,40}(?:import|using|use)\s+(?:static\s+)?([\w.:]+)(?:\s+as\s+\w+)?\s*;?\s*$|^[ \t]{0,40}#include\s*[<"]([^>"\n]+)[>"]/gmu;
const CLASS = /\b(?:class|interface|struct|enum|trait|protocol|record|object|type)\s+\w/u;
const FUNCTION = /\b(?:function|def|fn|func|fun|sub|proc)\b|=>|\)\s*(?::[^={]+)?\{/u;

const COMMENT = /^\s*(?:\/\/|\/?\*|#\s|--)/u;

/** Characters of a line that tell what it defines. */
const MAX_HEAD = 300;

/** The definition that a part of a file holds, and its imports. `file`: its path in the repository, where that is known. */
function readCode(text: string, symbol: string | undefined, file: string): Fact[] {
  const module = { name: file, type: 'Module' };
  const facts: Fact[] = [];
  for (const [line, ...paths] of text.matchAll(IMPORTS)) {
    const path = paths.find((one) => one !== undefined);
    const name = path === undefined ? '' : moduleName(path, file);
    if (name !== '' && name !== file)
      facts.push({ subject: module, relation: 'import', value: { name, type: 'Module' }, evidence: line.trim() });
  }
  if (symbol === undefined) return facts;
  const last = symbol.split(/\.|::/u).at(-1) ?? '';
  const naming = text.split('\n').filter((line) => line.includes(last));
  const head = (naming.find((line) => !COMMENT.test(line)) ?? naming[0] ?? '').slice(0, MAX_HEAD);
  if (isInternal(head, last, file)) return facts;
  const type = CLASS.test(head) ? 'Class' : FUNCTION.test(head) ? 'Function' : 'Concept';
  const owner = symbol.includes('.') ? symbol.slice(0, symbol.lastIndexOf('.')) : null;
  const subject = owner === null ? module : { name: owner, type: 'Class' };
  return [...facts, { subject, relation: 'define', value: { name: symbol, type }, evidence: head.trim() }];
}

/** Whether a definition is for its own file alone: a helper of a module, a private member. */
function isInternal(head: string, name: string, file: string): boolean {
  const isOfModule =
    /\.(?:[cm]?tsx?|mjs)$/u.test(file) && /^(?:async |function|class|interface|type|enum|const|let|var)/u.test(head);
  return isOfModule || /^[_#]/u.test(name) || /^\s*(?:private|static private)\b/u.test(head);
}

/** `../common/async.ts` is the file beside this one, `node:fs` and `koa` are packages. */
function moduleName(path: string, file: string): string {
  return /^\.{0,2}\//u.test(path) ? joinPath(folderOf(file), path) : path;
}
