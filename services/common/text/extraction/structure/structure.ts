import { isGeneratedName } from '../../../domain/index-rows.ts';
import { folderOf, joinPath } from '../../../domain/source-place.ts';
import { append } from '../../../kernel/long-lists.ts';
import type { ExtractionInput, TextPart } from '../../../ports/extractor.ts';
import { isCommonWord } from '../../language/common-words.ts';
import type { Fact, Reading } from './fact.ts';
import { isOfPerson, listedKeys, readKeyValues, readRecords } from './records.ts';
import { readTable } from './tables.ts';

interface Structure {
  /** The text with everything that is no prose replaced by line breaks: offsets stay. */
  readonly prose: string;
  readonly facts: readonly Fact[];
  /** Who says `I`: the sender of a mail, or whose data a curriculum gives; null when the structure does not tell. */
  readonly writer: string | null;
}

/** Separates what the structure of a text states from its prose. */
export function readStructure(input: ExtractionInput): Structure {
  const facts: Fact[] = [];
  let prose = '';
  let at = 0;
  let person: string | null = null;
  const records = (input.parts ?? []).filter(({ kind }) => kind === 'record');
  const listed = listedKeys(records.map(({ start, end }) => input.text.slice(start, end)));
  for (const part of input.parts ?? []) {
    const text = input.text.slice(part.start, part.end);
    const reading = readPart(text, part, { ...input, person, listed });
    for (const fact of reading.facts) facts.push(fact);
    person ??= reading.facts.find(isOfPerson)?.subject.name ?? null;
    if (person !== null && part.kind !== 'code') append(facts, careerOf(text, person));
    for (const { start, end } of reading.skipped) {
      if (end <= start) continue;
      prose += input.text.slice(at, part.start + start) + '\n'.repeat(end - start);
      at = part.start + end;
    }
  }
  prose += input.text.slice(at);
  const writer = facts.find(({ relation }) => relation === 'write_to')?.subject.name ?? person;
  return { prose: prose.includes('```') || prose.includes('~~~') ? withoutFences(prose) : prose, facts, writer };
}

const CAREER =
  /^[ \t*•-]{0,6}(?:\d{2}[./])?\d{4} ?(?:–|—|-|to|until|bis|a|à) ?(?:(?:\d{2}[./])?\d{4}|present|now|today|heute|hoy|actualidad|presente|aujourd['’]hui)[ \t]*[:,|]?[ \t]+(\p{Lu}[^\n,]{2,60}?) (?:at|bei(?: der| dem)?|en|chez)(?: the| la| el)? (\p{Lu}[^\n,;|()]{1,50}?)(?=[,;|(]| in \p{Lu}|[ \t]*$)/gmu;
const STUDIES = /^(?:Studium|BSc|MSc|BA|MA|PhD|Bachelor|Master|Licence|Grado|Degree|Abitur)/u;

/** Where a curriculum says that somebody worked: `2019 – heute: Projektleiterin bei Miele in Gütersloh`. */
function careerOf(text: string, person: string): Fact[] {
  return [...text.matchAll(CAREER)].map(([line, role = '', employer = '']) => ({
    subject: { name: person, type: 'Person' },
    relation: STUDIES.test(role) ? 'study_at' : 'work_at',
    value: { name: employer, type: 'Organisation' },
    evidence: line.trim(),
  }));
}

interface StructureInput extends ExtractionInput {
  /** Whose data the text has given before. */
  readonly person: string | null;
  /** Keys with which the records of lists begin. */
  readonly listed: ReadonlySet<string>;
}

function readPart(text: string, part: TextPart, input: StructureInput): Reading {
  const whole = [{ start: 0, end: text.length }];
  switch (part.kind) {
    case 'heading':
      return { facts: [], skipped: whole };
    case 'code': {
      const { fileName, exported = [] } = input;
      const isFile = input.format === 'code' && fileName !== undefined;
      return { facts: isFile ? readCode(text, part.symbol, { file: fileName, exported }) : [], skipped: whole };
    }
    case 'table':
      return readTable(text);
    case 'record':
      return readRecords(text, aboutOf(part, input), { isSettings: input.format === 'yaml', listed: input.listed });
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

/** What sections of documents are called beside the common words. */
const SECTIONS = new Set(
  `stack tech backend frontend deployment hosting infrastructure prerequisites installation install usage quickstart roadmap changelog
  license licence faq logistics itinerary accommodation flights ingredients dependencies credits milestones timeline budget
  maintainer contributor metrics configuration config setup specification specs troubleshooting monitoring networking
  hardware software tooling metadata overview appendix glossary agenda attendee deliverable stakeholder risk contact
  requirement environment severity participant decision task todo booking expense pricing status summary impact
  runbook playbook architecture dashboard endpoint api schema database queue backup testing pipeline permission access
  onboarding impression motivation strength weakness outcome question answer link reference resource material equipment
  transport arrival departure sight packing checklist payment delivery background step sync meeting
  kontakt kontakte ansprechpartner zutaten termine teilnehmer technik überblick kosten
  contacto contactos ingredientes participantes equipo presupuesto coordonnées ingrédients équipe aperçu`.split(/\s+/u),
);

/** Whether a heading only says what of its subject follows: `Stack`, `Contacts`, `Our team`. */
function isSection(heading: string): boolean {
  return heading.split(' ').every((one) => {
    const word = one.toLowerCase().replace(/[^\p{L}\p{N}-]+/gu, '');
    const singular = word.replace(/s$/u, '');
    return isCommonWord(word) || SECTIONS.has(word) || isCommonWord(singular) || SECTIONS.has(singular);
  });
}

/** The innermost heading that names something (`Sarah Lee`, not `Contact`), else the title or the name of the document. */
function aboutOf({ headings }: TextPart, input: StructureInput): string | null {
  const names = [...(headings ?? input.headings)].reverse();
  const own = names.find((name) => !isSection(name));
  const name = own ?? input.person ?? input.title ?? input.documentName;
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

interface CodeOfFile {
  /** Its path in the repository, where that is known. */
  readonly file: string;
  /** Names that a statement apart from their definition exports. */
  readonly exported: readonly string[];
}

/** The definition that a part of a file holds, and its imports. */
function readCode(text: string, symbol: string | undefined, { file, exported }: CodeOfFile): Fact[] {
  const module = { name: file, type: 'Module' };
  const facts: Fact[] = [];
  for (const [line, ...paths] of text.matchAll(IMPORTS)) {
    const path = paths.find((one) => one !== undefined);
    const name = path === undefined ? '' : moduleName(path, file);
    if (name !== '' && name !== file)
      facts.push({ subject: module, relation: 'import', value: { name, type: 'Module' }, evidence: line.trim() });
  }
  // What a module of CommonJS exports goes by its own name: `exports.create = …`.
  const name = symbol?.replace(/^(?:module\.)?exports(?:\.|$)/u, '') ?? '';
  if (name === '') return facts;
  const last = name.split(/\.|::/u).at(-1) ?? '';
  const naming = text.split('\n').filter((line) => line.includes(last));
  const head = (naming.find((line) => !COMMENT.test(line)) ?? naming[0] ?? '').slice(0, MAX_HEAD);
  if (!exported.includes(name) && isInternal(head, last, file)) return facts;
  const type = CLASS.test(head) ? 'Class' : FUNCTION.test(head) ? 'Function' : 'Concept';
  const owner = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : null;
  const subject = owner === null ? module : { name: owner, type: 'Class' };
  return [...facts, { subject, relation: 'define', value: { name, type }, evidence: head.trim() }];
}

/** Whether a definition is for its own file alone: a helper of a module, a private member. */
function isInternal(head: string, name: string, file: string): boolean {
  const isOfModule =
    /\.(?:[cm]?tsx?|mjs)$/u.test(file) && /^(?:async |function|class|interface|type|enum|const|let|var)/u.test(head);
  return isOfModule || /^[_#]/u.test(name) || /^\s*(?:private|static private)\b/u.test(head);
}

const SCRIPT = /\.[cm]?[jt]sx?$/u;
const OTHER_FILE = /\.(?:json5?|s?css|less|svg|png|jpe?g|gif|vue|svelte|mdx?|html?|wasm|graphql|gql|ya?ml|txt|node)$/u;

/**
 * The name that a module goes by: of a file of the same repository its path, as far as the import and the importing file tell
 * it. `../common/async.ts` is the file beside this one, `./tax` has the extension of the importing file, `.tax`,
 * `shop.tax` and `org.shop.Tax` are files of a package that the importing one is in; `node:fs` and `koa` are packages.
 */
function moduleName(path: string, file: string): string {
  const folder = folderOf(file);
  if (/^\.{0,2}\//u.test(path)) {
    const place = joinPath(folder, path);
    const [own] = SCRIPT.exec(file) ?? [];
    if (own === undefined || place === '' || OTHER_FILE.test(place)) return place;
    if (!SCRIPT.test(place)) return `${place}${own}`;
    // TypeScript imports its modules under the names of what they become.
    return own.includes('t') ? place.replace(/\.([cm]?)js(x?)$/u, '.$1ts$2') : place;
  }
  const ofPackage = /\.(?:py|java|kt)$/u.exec(file)?.[0];
  if (ofPackage === undefined || !/^\.*[\w.]*\w$/u.test(path)) return path;
  const dots = /^\.*/u.exec(path)?.[0].length ?? 0;
  const parts = path.slice(dots).split('.');
  if (dots > 0) return `${joinPath(folder, `${'../'.repeat(dots - 1)}${parts.join('/')}`)}${ofPackage}`;
  // The packages of Java begin with the name of a domain, which says little: `org.acme`.
  const root = parts.slice(0, ofPackage === '.py' ? 1 : 2).join('/');
  const at = parts.length < 2 ? -1 : `/${folder}/`.indexOf(`/${root}/`);
  return at < 0 ? path : `${joinPath(folder.slice(0, at), parts.join('/'))}${ofPackage}`;
}
