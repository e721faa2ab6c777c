import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';

/** What documentation says of a thing, and where. */
interface Documented {
  readonly value: string;
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

/** Characters of a question that asks for nothing but a value. */
const MAX_QUESTION = 150;

/**
 * Answers what people ask of documentation by forms of sentences that say it: the default of a setting, the version that is
 * needed, the licence, the address of a page; null for other questions, and when no sentence says it.
 */
export function documented(question: string, passages: readonly ReadPassage[]): Documented | null {
  const text = question.trim();
  if (text.length > MAX_QUESTION) return null;
  return (
    statedDefault(text, passages) ??
    neededVersion(text, passages) ??
    statedLicence(text, passages) ??
    statedAddress(text, passages)
  );
}

const ASKS_DEFAULT = [
  /^what(?:['’]s| is| are) the default (?:(?:values?|settings?) (?:of|for) (?:the )?)?(?<what>.+?)(?: (?:of|for|in|with) (?:the )?(?<owner>.+?))?\??$/iu,
  /^(?:what|which) (?<what>.+?) (?:is|are) (?:used |set |taken )?by default(?: (?:in|by|with|for) (?<owner>.+?))?\??$/iu,
  /^(?:what|which) (?<what>.+?) (?:does|do|is|are) (?<owner>.+?) (?:used? |set (?:to )?|have |has )?by default\??$/iu,
  /^what (?:does|do) (?<what>.+?) (?:default to|use by default)(?: in (?<owner>.+?))?\??$/iu,
];

/** Words of a question behind the name of a setting: `the port option`. */
const KIND_OF_SETTING = / (?:option|setting|parameter|argument|property|field|flag|value)s?$/iu;

const QUOTED = '`[^`\\n]{1,60}`|"[^"\\n]{1,60}"|\'[^\'\\n]{1,60}\'';
const PLAIN =
  '[\\p{L}\\p{N}_$./:@#+%-]*[\\p{L}\\p{N}_%](?: (?:ms|milliseconds?|seconds?|minutes?|hours?|days?|bytes|[KMG]i?B))?';
const VALUE = `(?<value>${QUOTED}|${PLAIN})`;
const DEFAULT_IS = [
  new RegExp(`\\bdefaults? ?(?:value)?(?::| is| are| ?=| to|s to)+ ${VALUE}`, 'iu'),
  new RegExp(`\\(default:? ${VALUE}\\)`, 'iu'),
  new RegExp(`(?:\\b(?:is|are|uses?) |[,;] )${VALUE} by default\\b`, 'iu'),
];

/** Returns the default that documentation gives for a setting of a program or of a part of it. */
function statedDefault(question: string, passages: readonly ReadPassage[]): Documented | null {
  const groups = ASKS_DEFAULT.map((pattern) => pattern.exec(question)?.groups).find((found) => found !== undefined);
  const what = stemsOf((groups?.['what'] ?? '').replace(KIND_OF_SETTING, ''));
  const owner = stemsOf(groups?.['owner'] ?? '');
  const head = what.at(-1);
  if (head === undefined) return null;
  let [best, most]: [Documented | null, number] = [null, 0];
  for (const passage of passages) {
    const statements = statementsOf(passage);
    for (const [at, statement] of statements.entries()) {
      if (statement.isQuestion === true || !/default/iu.test(statement.text)) continue;
      const text = statement.text.replaceAll('**', '');
      const found = DEFAULT_IS.map((pattern) => pattern.exec(text)).find((one) => one !== null) ?? null;
      const value = unquoted(found?.groups?.['value'] ?? '');
      if (found === null || value === '' || STOP_WORDS.has(value.toLowerCase())) continue;
      const before = text.slice(0, found.index);
      const name = stemsOf(before).length > 0 ? before : nameOfSetting(statements, at);
      const named = [...new Set(stemsOf(name))];
      if (!named.includes(head)) continue;
      const { documentName, headings } = passage.payload;
      const place = new Set(stemsOf([documentName, ...headings, statement.heading].join(' ')));
      const around = new Set([...place, ...named, ...stemsOf(passage.payload.text)]);
      if (![...what, ...owner].every((stem) => around.has(stem))) continue;
      const score = 1 + share(owner, (stem) => place.has(stem)) + 1 / (1 + named.length);
      if (score > most) [best, most] = [{ value, passage, statement }, score];
    }
  }
  return best;
}

/** Returns the name of the setting that a sentence such as `Default: 80.` belongs to: of its item, or the heading. */
function nameOfSetting(statements: readonly Statement[], at: number): string {
  const { heading, label } = statements[at] as Statement;
  for (let back = at - 1; back >= 0 && at - back <= SENTENCES_OF_ITEM; back--) {
    const before = statements[back] as Statement;
    if (before.heading !== heading) break;
    if (before.isItem === true) return /^[^:(–—]+/u.exec(before.text)?.[0] ?? '';
  }
  return `${heading} ${label}`.replace(/\([^()]*\)/gu, '');
}

const SENTENCES_OF_ITEM = 6;

const ASKS_VERSION =
  /^(?:which|what)(?: (?:minimum|minimal|lowest|oldest))? (?:(?<kind>.+?) versions?|versions? of (?<what>.+?)) (?:is|are|does|do|must|should|has to) (?:(?:I|we|you) (?:need|have|use|run)|(?:required|needed|supported|necessary)|(?<owner>.+?) (?:requires?|needs?|supports?|runs? on|works? with|be))\b(?: (?:for|by|to run|to use|in) (?<by>.+?))?\??$/iu;
const NEEDS =
  /\b(?:requir\p{L}*|needs?|needed|supports?|supported|compatible|minimum|at least|or (?:higher|later|newer|above|greater))\b|>=|≥|\d\+/iu;
/** Tells of versions that are kept for others. */
const OF_OTHERS = /\b(?:for example|e\.g\.|legacy|older versions?)(?!\p{L})/iu;
const NUMBER_OF_VERSION =
  '(?:>=? ?|≥ ?)?v?\\d+(?:\\.(?:\\d+|x))*(?:\\+| ?(?:or|and) (?:higher|later|newer|above|greater|up))?';

/** Returns the version of something that something else needs: `v18.0.0 or higher` of Node for Koa. */
function neededVersion(question: string, passages: readonly ReadPassage[]): Documented | null {
  const { kind, what, owner, by } = ASKS_VERSION.exec(question)?.groups ?? {};
  const asked = (kind ?? what ?? '').trim();
  if (asked === '') return null;
  const name = asked.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  const said = new RegExp(
    `(?<![\\p{L}\\p{N}])${name}(?:\\.?js)?(?: (?:version|versions|release))? (?<value>${NUMBER_OF_VERSION})(?![\\p{L}\\p{N}])`,
    'iu',
  );
  return firstAbout(stemsOf(owner ?? by ?? ''), passages, ({ text }) =>
    NEEDS.test(text) && !OF_OTHERS.test(text) ? (said.exec(text)?.groups?.['value'] ?? null) : null,
  );
}

const ASKS_LICENCE =
  /^(?:(?:under )?(?:what|which) licen[cs]es? (?:is|are|does|do|was) (?<what>.+?)(?: (?:released|published|distributed|available|licen[cs]ed|under|use|have|has)\b.*)?|what (?:is|are) (?<thing>.+?) licen[cs]ed under|what(?:['’]s| is) the licen[cs]e (?:of|for) (?<of>.+?)|how is (?<which>.+?) licen[cs]ed)\??$/iu;
const LICENCE =
  /(?<![\p{L}\p{N}])(?:MIT(?:-0)?|Apache(?: Licen[cs]e)?,? ?(?:Version )?-?2\.0|(?:[23]-Clause )?BSD(?:[- ][0-9][- ]Clause)?|ISC|0BSD|[AL]?GPL(?:[- ]?v?[23](?:\.\d)?)?(?:-or-later|-only)?|GNU (?:Affero |Lesser )?General Public Licen[cs]e(?: v?[23](?:\.\d)?)?|MPL(?:[- ]?2\.0)?|Mozilla Public Licen[cs]e(?: 2\.0)?|EUPL(?:[- ]1\.[12])?|Unlicense|CC0|CC[- ]BY(?:-[A-Z]{2})*(?:[- ]\d\.\d)?|public domain|proprietary)(?: Licen[cs]e)?(?![\p{L}\p{N}])/u;
/** What stands before the name of a licence, or behind it. */
const BEFORE_LICENCE = /(?:\blicen[cs]ed?(?: under|:| is)?|\bunder)(?: the| an?)? $/iu;
const ENDS_LICENCE = /licen[cs]e$/iu;
const LICENCE_HEADING = /^(?:licen[cs]|copying)/iu;

/** Returns the licence of a program or a text by its name. */
function statedLicence(question: string, passages: readonly ReadPassage[]): Documented | null {
  const { what, thing, of, which } = ASKS_LICENCE.exec(question)?.groups ?? {};
  const asked = stemsOf(what ?? thing ?? of ?? which ?? '');
  if (asked.length === 0) return null;
  return firstAbout(asked, passages, ({ heading, label, text }) => {
    const found = LICENCE.exec(text);
    if (found === null) return null;
    const isNamed =
      LICENCE_HEADING.test(heading) ||
      LICENCE_HEADING.test(label) ||
      BEFORE_LICENCE.test(text.slice(0, found.index)) ||
      ENDS_LICENCE.test(text.slice(found.index, found.index + found[0].length + ' licence'.length));
    return isNamed ? found[0] : null;
  });
}

const ASKS_ADDRESS =
  /^(?:what(?:['’]s| is)|give me|where(?:['’]s| is)) the (?:url|link|web ?(?:site|page)|home ?page|web address)(?: (?:of|for|to))? (?<what>.+?)\??$|^where (?:can|do) (?:I|we|you) (?:find|download|read) (?<thing>.+?)(?: online)?\??$/iu;
const ADDRESS = /\((?<address>https?:\/\/[^\s()]+)\)/gu;
/** Words before an address that it may be the link of. */
const WORDS_OF_LINK = 6;

/** Returns where the link leads whose words are those that a question asks the address of. */
function statedAddress(question: string, passages: readonly ReadPassage[]): Documented | null {
  const { what, thing } = ASKS_ADDRESS.exec(question)?.groups ?? {};
  const asked = stemsOf(what ?? thing ?? '');
  const head = asked.at(-1);
  if (head === undefined) return null;
  return firstAbout(asked, passages, ({ text }) => {
    for (const { index, groups } of text.matchAll(ADDRESS)) {
      const words = wordsOf(text.slice(0, index)).slice(-WORDS_OF_LINK);
      if (stemsOf(words.join(' ')).includes(head)) return groups?.['address'] ?? null;
    }
    return null;
  });
}

/**
 * Returns the first value that a statement about a thing gives: one with the words of the thing, else one of the document with
 * them and the fewest others in its name.
 */
function firstAbout(
  thing: readonly string[],
  passages: readonly ReadPassage[],
  valueIn: (statement: Statement) => string | null,
): Documented | null {
  const found = passages.flatMap((passage) => {
    const { documentName, headings } = passage.payload;
    const name = stemsOf(documentName);
    return statementsOf(passage).flatMap((statement) => {
      const value = statement.isQuestion === true ? null : valueIn(statement);
      if (value === null) return [];
      const said = stemsOf(statement.text);
      const unsaid = thing.filter((stem) => !said.includes(stem));
      const place = [...name, ...stemsOf([...headings, statement.heading].join(' '))];
      if (!unsaid.every((stem) => place.includes(stem))) return [];
      return [{ value, passage, statement, others: unsaid.length === 0 ? 0 : name.length }];
    });
  });
  return found.toSorted((one, other) => one.others - other.others)[0] ?? null;
}

const stemsOf = (text: string): readonly string[] =>
  wordsOf(text.replace(/[_./-]/gu, ' '))
    .filter((word) => !STOP_WORDS.has(word))
    .map(stemOf);

const share = (all: readonly string[], isSo: (stem: string) => boolean) =>
  all.length === 0 ? 1 : all.filter(isSo).length / all.length;

const unquoted = (value: string) => value.replace(/^[`'"]|[`'"]$/gu, '').replace(/^['"]|['"]$/gu, '');
