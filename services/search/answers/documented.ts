import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { examplesOf, type Statement, statementsOf } from './statements.ts';

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
    statedCode(text, passages) ??
    statedLicence(text, passages) ??
    statedAddress(text, passages)
  );
}

const ASKS_DEFAULT = [
  /^how (?:often|long|many|much|large|big|fast|far|high)(?<how> .+?) by default(?: (?:in|by|with|for) (?<owner>.+?))?\??$/iu,
  /^what(?:['’]s| is| are) the default (?:(?:values?|settings?) (?:of|for) (?:the )?)?(?<what>.+?)(?: (?:of|for|in|with) (?:the )?(?<owner>.+?))?\??$/iu,
  /^(?:what|which) (?<what>.+?) (?:is|are) (?:used |set |taken )?by default(?: (?:in|by|with|for) (?<owner>.+?))?\??$/iu,
  /^(?:what|which) (?<what>.+?) (?:does|do|is|are) (?<owner>.+?) (?:(?:used?|set|ha(?:ve|s)|allow|accept|support|return|keep|listen|serve|show|write|send|try|wait)(?: (?:to|on|for|at))? )?by default\??$/iu,
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

/** Words of a question for a program, beside its name. */
const KINDS_OF_PROGRAM = new Set(
  'app application client command component container daemon image library middleware module package plugin program server service tool'
    .split(' ')
    .map(stemOf),
);

/** Whether a question asks the default of a setting of a program whose documents nowhere have the setting. */
export function isDefaultUnsaid(question: string, passages: readonly ReadPassage[]): boolean {
  const groups = question.length > MAX_QUESTION ? undefined : ASKS_DEFAULT[1]?.exec(question.trim())?.groups;
  const [head] = stemsOf((groups?.['what'] ?? '').replace(KIND_OF_SETTING, '')).slice(-1);
  const owner = stemsOf(groups?.['owner'] ?? '').filter((stem) => !KINDS_OF_PROGRAM.has(stem));
  if (head === undefined || owner.length === 0) return false;
  const own = passages.filter(({ payload }) => {
    const name = stemsOf(payload.documentName);
    return owner.every((stem) => name.includes(stem));
  });
  return own.length > 0 && own.every(({ payload }) => !stemsOf(payload.text).includes(head));
}

/** Returns the default that documentation gives for a setting of a program or of a part of it. */
function statedDefault(question: string, passages: readonly ReadPassage[]): Documented | null {
  const groups = ASKS_DEFAULT.map((pattern) => pattern.exec(question)?.groups).find((found) => found !== undefined);
  const how = groups?.['how'];
  const names = new Set(passages.flatMap(({ payload }) => stemsOf(payload.documentName)));
  const asked = stemsOf((groups?.['what'] ?? how ?? '').replace(KIND_OF_SETTING, ''));
  // `How often does Heron poll by default?` names the program among the words of the setting.
  const what = how === undefined ? asked : asked.filter((stem) => !names.has(stem));
  const owner = [
    ...stemsOf(groups?.['owner'] ?? '').filter((stem) => !KINDS_OF_PROGRAM.has(stem)),
    ...(how === undefined ? [] : asked.filter((stem) => names.has(stem))),
  ];
  const heads = how === undefined ? what.slice(-1) : what;
  if (heads.length === 0) return null;
  let [best, most]: [Documented | null, number] = [null, 0];
  for (const passage of passages) {
    const statements = statementsOf(passage);
    const shown = how === undefined ? defaultInCode(passage, what, owner) : null;
    if (shown !== null && most < OF_CODE) [best, most] = [shown, OF_CODE];
    for (const [at, statement] of statements.entries()) {
      if (statement.isQuestion === true || !/default/iu.test(statement.text)) continue;
      const text = statement.text.replaceAll('**', '');
      const found = DEFAULT_IS.map((pattern) => pattern.exec(text)).find((one) => one !== null) ?? null;
      const value = unquoted(found?.groups?.['value'] ?? '');
      if (found === null || value === '' || STOP_WORDS.has(value.toLowerCase())) continue;
      const before = text.slice(0, found.index);
      const name = stemsOf(before).length > 0 ? before : nameOfSetting(statements, at);
      const named = [...new Set(stemsOf(how === undefined ? name : `${name} ${text} ${besides(statements, at)}`))];
      if (!heads.some((head) => named.includes(head))) continue;
      if (how !== undefined && !/\d/u.test(value)) continue;
      const { documentName, headings } = passage.payload;
      const place = new Set(stemsOf([documentName, ...headings, statement.heading].join(' ')));
      const around = new Set([...place, ...named, ...stemsOf(passage.payload.text)]);
      const lost = [...what, ...owner].filter((stem) => !around.has(stem)).length;
      // `in parallel` may be `at the same time`
      if (lost > (how === undefined ? 0 : Math.floor(what.length * MAY_BE_OTHERWISE))) continue;
      if (how !== undefined && share(what, (stem) => named.includes(stem)) < MIN_NAMED) continue;
      const score =
        1 +
        share(what, (stem) => named.includes(stem)) +
        share(owner, (stem) => place.has(stem)) +
        1 / (1 + named.length);
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
    if (before.isItem === true || OPTION.test(before.text)) return /^[^:(–—]+/u.exec(before.text)?.[0] ?? '';
  }
  return `${heading} ${label}`.replace(/\([^()]*\)/gu, '');
}

const SENTENCES_OF_ITEM = 6;
/** Share of the words of a question how much something is by default that documentation may say otherwise, and must say there. */
const MAY_BE_OTHERWISE = 0.5;
const MIN_NAMED = 0.5;

/** Returns the sentences of the short section that a default stands in. */
function besides(statements: readonly Statement[], at: number): string {
  const { heading, isItem } = statements[at] as Statement;
  const own = isItem === true || heading === '' ? [] : statements.filter((one) => one.heading === heading);
  return own.length > SENTENCES_OF_ITEM || own.some((one) => one.isItem === true)
    ? ''
    : own.map((one) => one.text).join(' ');
}
/** `--line-width=NUMBER  The greatest width of a line.` */
const OPTION = /^--?\p{L}/u;

/** How much a default counts that code shows: more than one of a longer name that a sentence says. */
const OF_CODE = 3.4;
const OF_DEFAULTS = /\bdefaults?\b/iu;
/** A key with its value in an object: `"methods": "GET,HEAD",`, `depth: undefined, // unlimited` */
const KEY_IN_CODE =
  /^[ \t]*(?:["'](?<quoted>[^"'\n]{1,60})["']|(?<key>[\p{L}_$][\p{L}\p{N}_$.-]{0,60}))[ \t]*[:=][ \t]*(?<value>"[^"\n]{0,80}"|'[^'\n]{0,80}'|[^\s,;{}[\]()'"]{1,40})[,;]?[ \t]*(?:(?:\/\/|#).*)?$/gmu;

/** Returns the value of a key in code of which the line before it or the heading above it says that it shows the defaults. */
function defaultInCode(passage: ReadPassage, what: readonly string[], owner: readonly string[]): Documented | null {
  const { documentName, headings } = passage.payload;
  for (const { code, heading, above } of examplesOf(passage)) {
    const before = lineBefore(code, passage.payload.text);
    const place = new Set(stemsOf([documentName, ...headings, ...above, heading].join(' ')));
    if (!OF_DEFAULTS.test(`${before} ${heading}`) || !owner.every((stem) => place.has(stem))) continue;
    for (const { groups } of code.matchAll(KEY_IN_CODE)) {
      const named = stemsOf(groups?.['quoted'] ?? groups?.['key'] ?? '');
      const isNamed =
        what.every((stem) => named.includes(stem) || place.has(stem)) && named.every((stem) => what.includes(stem));
      if (!isNamed) continue;
      const value = unquoted(groups?.['value'] ?? '');
      const text = `${groups?.['quoted'] ?? groups?.['key']}: ${groups?.['value']}`;
      return { value, passage, statement: { text, label: '', heading, above, time: null, isValue: true } };
    }
  }
  return null;
}

/** Characters before code that may say what it shows. */
const NEAR = 200;

function lineBefore(code: string, text: string): string {
  const at = text.indexOf(code);
  return (
    text
      .slice(Math.max(0, at - NEAR), Math.max(0, at))
      .trimEnd()
      .split('\n')
      .at(-1) ?? ''
  );
}

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

const WORDS_OF_LICENCE =
  '\\p{Lu}[\\p{L}\\d.+-]*(?<!\\.)(?: (?:(?:v|version )?\\d[\\d.]*(?<!\\.)|\\p{Lu}[\\p{L}\\d+-]*)){0,6}';
/** Another licence than the known ones: `Licensed under the Blue Oak Model License 1.0.0.` */
const LICENSED_UNDER = new RegExp(
  `\\b[Ll]icen[cs]ed under (?:the (?:terms of the )?|an? )?(?<name>${WORDS_OF_LICENCE}(?: [Ll]icen[cs]e)?)`,
  'u',
);
/** A section that is little more than the name. */
const NAME_OF_LICENCE = new RegExp(
  `^(?!(?:See|Copyright|All|The|This|Please|Read|Code|You|It|We)\\b)(?<name>${WORDS_OF_LICENCE}(?: [Ll]icen[cs]e)?)(?=[.,;)]?$|[.,;(©—–-] ?| ©)`,
  'u',
);
/** An identifier of SPDX: `BlueOak-1.0.0` */
const IDENTIFIER_OF_LICENCE = /(?<![\p{L}\p{N}-])\p{Lu}[\p{L}\d]*(?:-[\p{L}\d]+)*-\d+(?:\.\d+)+(?:-\p{L}+)*/u;

/** Returns the licence of a program or a text by its name. */
function statedLicence(question: string, passages: readonly ReadPassage[]): Documented | null {
  const { what, thing, of, which } = ASKS_LICENCE.exec(question)?.groups ?? {};
  const asked = stemsOf(what ?? thing ?? of ?? which ?? '');
  if (asked.length === 0) return null;
  const known = firstAbout(asked, passages, ({ heading, label, text }) => {
    const found = LICENCE.exec(text);
    if (found === null) return null;
    const isNamed =
      LICENCE_HEADING.test(heading) ||
      LICENCE_HEADING.test(label) ||
      BEFORE_LICENCE.test(text.slice(0, found.index)) ||
      ENDS_LICENCE.test(text.slice(found.index, found.index + found[0].length + ' licence'.length));
    return isNamed ? found[0] : null;
  });
  if (known !== null) return known;
  return firstAbout(asked, passages, ({ heading, label, text }) => {
    const isSection = LICENCE_HEADING.test(heading) || LICENCE_HEADING.test(label);
    return (
      LICENSED_UNDER.exec(text)?.groups?.['name'] ??
      (isSection ? (NAME_OF_LICENCE.exec(text)?.groups?.['name'] ?? IDENTIFIER_OF_LICENCE.exec(text)?.[0]) : null) ??
      null
    );
  });
}

const ASKS_CODE =
  /^(?:what|which) (?:http )?(?:(?:status|error|response|exit|return) )*(?:codes?|status) (?:do(?:es)? .+? (?:get|return|give|send|answer|respond|exit|end)(?: back| with)?|is (?:returned|sent|given|used|answered)|comes back|will I get|am I given)\b(?<when>.*?)\??$/iu;
const CODE =
  /(?<![\p{L}\p{N}.])(?<value>[1-5]\d\d|(?<=\bcode )\d{1,3})(?![\p{L}\p{N}%]|\.\d| (?:ms|seconds?|minutes?|hours?|days?|requests?|items?|bytes|kg|euros?)\b)/gu;
/** Share of the words of a question that a code's clause must say. */
const MIN_SAID = 0.5;

/** Returns the status of a reply or an exit in the case of which a question asks: that of the clause with most of its words. */
function statedCode(question: string, passages: readonly ReadPassage[]): Documented | null {
  const asked = stemsOf(ASKS_CODE.exec(question)?.groups?.['when'] ?? '');
  if (asked.length === 0) return null;
  let [best, most]: [Documented | null, number] = [null, MIN_SAID];
  for (const passage of passages) {
    const statements = statementsOf(passage);
    for (const [at, statement] of statements.entries()) {
      const found = [...statement.text.matchAll(CODE)];
      const before = statements[at - 1];
      const around = before?.heading === statement.heading && found.length === 1 ? before.text : '';
      for (const [index, one] of found.entries()) {
        // `404 if the number is unknown, 410 if …`: what follows a code, up to the next one; all of the sentence for one alone.
        const clause = found.length === 1 ? statement.text : statement.text.slice(one.index, found[index + 1]?.index);
        const said = stemsOf(`${clause} ${around} ${statement.heading}`);
        const score = share(asked, (stem) => said.includes(stem));
        if (score > most) [best, most] = [{ value: one.groups?.['value'] ?? '', passage, statement }, score];
      }
    }
  }
  return best;
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
  wordsOf(text.replace(/(?<=\p{Ll})(?=\p{Lu})|[_./-]/gu, ' '))
    .filter((word) => !STOP_WORDS.has(word))
    .map(stemOf);

const share = (all: readonly string[], isSo: (stem: string) => boolean) =>
  all.length === 0 ? 1 : all.filter(isSo).length / all.length;

const unquoted = (value: string) => value.replace(/^[`'"]|[`'"]$/gu, '').replace(/^['"]|['"]$/gu, '');
