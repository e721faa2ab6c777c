import { versionOfHeading } from '../../common/text/chunking/release-headings.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { contentWords, withoutStopWords, wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';
import type { ToldParts } from './told-parts.ts';

interface Entry {
  readonly statement: Statement;
  readonly passage: ReadPassage;
  /** `2.1.0`, of the heading or of the words before a colon. */
  readonly version: string;
  /** `2022-06-28`; null when it is not told. */
  readonly date: string | null;
  /** The heading or the words that name the version. */
  readonly named: string;
}

const MAX_QUESTION = 160;
const VERSION = '(?<version>v?\\d+(?:\\.(?:\\d+|x)){0,3}(?:-[\\p{L}\\p{N}.]+)?)';
const RELEASE = '(?:versions?|releases?)';

/** `What changed in version 4 of Heron?`, `What are the breaking changes in Heron 3.0?`, `What was fixed in 2.1.0?` */
const ASKS_CHANGES = new RegExp(
  `^(?:what(?:['’]s| is| was| has| have| are| were)?|which|list|show|give me|tell me)\\b(?<what>.*?\\b(?:chang\\p{L}*|new|news|add\\p{L}*|fix\\p{L}*|remov\\p{L}*|deprecat\\p{L}*|introduc\\p{L}*|improve\\p{L}*|break\\p{L}*|broke|drop\\p{L}*|features?|released?|notes)\\b.*?)\\b(?:in|with|for|of|since|by)\\s+(?<owner>.*?)(?:\\b${RELEASE} )?(?<![\\p{L}\\p{N}.])${VERSION}(?: ${RELEASE})?(?: (?:of|for) (?<other>.+?))?\\s*\\??$`,
  'iu',
);
/** `In which version of Heron was X removed?`, `Which release fixed X?`, `Since which version is X supported?` */
const ASKS_VERSION = new RegExp(
  `^(?:(?:in|since|from|with|by|as of) )?(?:which|what)(?: (?<kind>[\\p{L}\\p{N}@/._-]+(?: [\\p{L}\\p{N}@/._-]+)?))?? ${RELEASE}(?: (?:of|for) (?<owner>[^ ]+(?: [^ ]+){0,2}?))?(?= (?:was|were|is|are|did|does|do|has|have|can|first|\\p{L}+(?:s|ed|ught|t|pt|opped))\\b) (?<event>.+?)\\??$`,
  'iu',
);
/** `When did Heron drop X?`, `When was X added to Heron?`, `Since when does Heron support X?` */
const ASKS_WHEN =
  /^(?:since )?when (?:was|were|did|does|is|has|have|do)\b(?<event> .*?\b(?:add|introduc|remov|drop|fix|deprecat|support|chang|renam|replac|bec[ao]me|start|stop)\p{L}*\b.*?)\??$/iu;
/** `When was Heron 2.1 released?` */
const ASKS_DATE = new RegExp(
  `^when (?:was|did|is) (?<owner>.*?)(?:\\b${RELEASE} )?(?<![\\p{L}\\p{N}.])${VERSION}(?: (?:of|for) (?<other>.+?))? (?:released|published|come out|appear|out|shipped|tagged)\\??$`,
  'iu',
);
/** `What is the latest version of Heron?` */
const ASKS_LATEST = new RegExp(
  `^(?:what(?:['’]s| is| was)|which is) the (?:latest|newest|most recent|current|last) ${RELEASE}(?: number)?(?: (?:of|for) (?<owner>.+?))?\\??$`,
  'iu',
);

const DEEDS = [
  [
    'added',
    /^(?:add|introduc|implement|support|provid|allow|export|new|feat|gain|brought|bring|ship|become|became|start)/u,
  ],
  ['removed', /^(?:remov|drop|delet|discontinu|stop|end|no-longer|unsupport)/u],
  ['fixed', /^(?:fix|resolv|repair|solv|correct|prevent|address|patch|bug|mend)/u],
  ['deprecated', /^deprecat/u],
  ['changed', /^(?:chang|renam|replac|switch|mov|break|broke|rewr[io]t|made|mak|improv|updat|upgrad|speed)/u],
] as const;
type Deed = (typeof DEEDS)[number][0];

/**
 * Answers questions of changes and versions from notes of releases, whose headings or items begin with a version: what changed in
 * one, in which one something changed, when one was released, which is the latest. `unsaid`: the notes of the program that is
 * named do not say it. Null for other questions, and without such notes.
 */
export function releaseAnswer(question: string, passages: readonly ReadPassage[]): ToldParts | 'unsaid' | null {
  const text = question.trim();
  if (text.length > MAX_QUESTION || !/version|release|chang|when|new|fix|break|add|remov|deprecat|drop/iu.test(text))
    return null;
  const latest = ASKS_LATEST.exec(text)?.groups;
  const dated = ASKS_DATE.exec(text)?.groups;
  const changes = ASKS_CHANGES.exec(text)?.groups;
  const which = ASKS_VERSION.exec(text)?.groups;
  const when = ASKS_WHEN.exec(text)?.groups;
  const asked = latest ?? dated ?? changes ?? which ?? when;
  if (asked === undefined) return null;
  const read = passages.map((passage) => ({ passage, entries: entriesOf(passage) }));
  if (isYear(asked['version'] ?? '')) return null;
  const owner = stemsOf(`${asked['owner'] ?? ''} ${asked['other'] ?? ''} ${asked['kind'] ?? ''}`);
  const entries = ofProgram(owner, read).flatMap((one) => one.entries);
  if (entries.length === 0) return null;
  // The newest ones stand at the beginning, which may be in no passage that was found.
  const isWhole = entries.some(({ passage }) => passage.payload.chunkIndex === 0);
  if (latest !== undefined) return isWhole ? latestOf(entries) : null;
  const version = asked['version'] ?? '';
  const answer =
    dated !== undefined
      ? dateOf(version, entries)
      : changes !== undefined
        ? changesIn(version, asked['what'] ?? '', entries)
        : whichVersion(asked['event'] ?? '', entries, when === undefined ? 'version' : 'date');
  return answer === 'unsaid' && owner.length === 0 ? null : answer;
}

/** Words before the colon of an item that names its version: `v4 (Sep 2024): remove glob support`. */
const LEAD = /^(?<lead>[^:]{1,60}):\s/u;

/** Returns what a passage tells of releases. */
function entriesOf(passage: ReadPassage): readonly Entry[] {
  if (!/\d/u.test(passage.payload.text)) return [];
  const known = new Map<string, ReturnType<typeof versionOfHeading>>();
  const versionOf = (title: string) => {
    if (!known.has(title)) known.set(title, versionOfHeading(title));
    return known.get(title) ?? null;
  };
  return statementsOf(passage).flatMap((statement): Entry[] => {
    if (statement.isCommand === true || statement.isValue === true) return [];
    const lead = LEAD.exec(statement.text)?.groups?.['lead'] ?? '';
    const places = [
      ...(/\d/u.test(lead) ? [lead] : []),
      ...[...(statement.above ?? []), statement.heading].toReversed(),
    ];
    for (const named of places) {
      const found = versionOf(named);
      if (found !== null) return [{ statement, passage, named, ...found }];
    }
    const { version: marked, other } = IN_TEXT.exec(statement.text)?.groups ?? {};
    const stated = marked ?? other;
    return stated === undefined || isYear(stated)
      ? []
      : [{ statement, passage, named: '', version: stated, date: null }];
  });
}

/** Words of a document's name beside that of the program. */
const OTHER_WORDS = 2;

/** Returns the passages of the program that is named: all when none is, else those of documents with its name. */
function ofProgram<T extends { readonly passage: ReadPassage }>(
  owner: readonly string[],
  read: readonly T[],
): readonly T[] {
  if (owner.length === 0) return read;
  const named = read.filter(({ passage }) => {
    const { documentName, headings } = passage.payload;
    const place = stemsOf([documentName, ...headings].join(' '));
    return owner.every((stem) => place.includes(stem));
  });
  const words = (one: T) => stemsOf(one.passage.payload.documentName).length;
  const fewest = Math.min(...named.map(words));
  return named.filter((one) => words(one) <= fewest + OTHER_WORDS);
}

/** `What changed in 2024?` */
const isYear = (version: string) => /^(?:19|20)\d\d$/u.test(version);

const partsOf = (version: string) => version.replace(/^v/iu, '').split('.');

/** Whether a version is one that a question names: `4.0.0` is version 4, `4.1.0` is not. */
function isVersion(asked: string, version: string): boolean {
  const [wanted, own] = [partsOf(asked.toLowerCase()), partsOf(version)];
  return Array.from({ length: Math.max(wanted.length, own.length) }).every(
    (_, at) => (wanted[at] ?? '0').replace('x', '0') === (own[at] ?? '0').replace('x', '0'),
  );
}

const compare = (one: string, other: string): number => {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const by = Number.parseInt(a[at] ?? '0', 10) - Number.parseInt(b[at] ?? '0', 10);
    if (by !== 0 && !Number.isNaN(by)) return by;
  }
  // `2.0.0-rc.1` comes before `2.0.0`.
  return Number(other.includes('-')) - Number(one.includes('-'));
};

function latestOf(entries: readonly Entry[]): ToldParts {
  const [best] = entries.toSorted((one, other) => compare(other.version, one.version));
  return best === undefined
    ? { short: null, quotes: [] }
    : { short: best.version, quotes: [quoteOf(best, best.named)] };
}

function dateOf(asked: string, entries: readonly Entry[]): ToldParts | 'unsaid' {
  const found = entries.find(({ version, date }) => date !== null && isVersion(asked, version));
  return found === undefined ? 'unsaid' : { short: found.date, quotes: [quoteOf(found, found.named)] };
}

const quoteOf = ({ statement, passage }: Entry, text: string) => ({ text, statement, passage });

/** Characters of the changes of a version that are quoted. */
const MAX_CHANGES = 1500;

/** Returns what changed in a version, or what of it is asked for: what was fixed, what breaks. */
function changesIn(asked: string, what: string, entries: readonly Entry[]): ToldParts | 'unsaid' {
  const all = entries.filter(({ version }) => isVersion(asked, version));
  const deed = /\bbr[eo]\p{L}*k\p{L}*/iu.test(what) ? 'breaking' : deedsIn(what).find((one) => one !== 'changed');
  const isOf = ({ statement: { text, heading, label } }: Entry) => {
    if (deed === undefined) return true;
    const said = `${heading} ${label} ${text.slice(0, 60)}`;
    return deed === 'breaking' ? /break/iu.test(`${said} ${text}`) : deedsIn(said).includes(deed);
  };
  // What follows an item in its place belongs to it.
  let isBefore = false;
  const wanted = all.filter((entry, at) => {
    const isContinued = entry.statement.isItem !== true && all[at - 1]?.statement.heading === entry.statement.heading;
    isBefore = isOf(entry) || (isContinued && isBefore);
    return isBefore;
  });
  if (wanted.length === 0)
    return all.length === 0 || deed === undefined ? 'unsaid' : { short: null, quotes: joined(all) };
  return { short: null, quotes: joined(wanted) };
}

/** Puts the entries of each section into one text. */
function joined(entries: readonly Entry[]): ToldParts['quotes'] {
  const quotes: { text: string; statement: Statement; passage: ReadPassage }[] = [];
  let length = 0;
  const seen = new Set<string>();
  for (const { statement, passage } of entries) {
    if (seen.has(statement.text)) continue;
    seen.add(statement.text);
    length += statement.text.length;
    if (length > MAX_CHANGES && quotes.length > 0) break;
    const last = quotes.at(-1);
    const isSame = last?.passage === passage && last.statement.heading === statement.heading;
    const mark = statement.isItem === true ? '; ' : ' ';
    if (last !== undefined && isSame) last.text = `${last.text}${mark}${statement.text}`;
    else quotes.push({ text: statement.text, statement, passage });
  }
  return quotes;
}

/** Share of the words of a change that its entry must say. */
const MIN_SAID = 0.7;
/** Words of a question that are of no change. */
const EMPTY = new Set(
  'version release first library package problem issue bug possible longer use thing'.split(' ').map(stemOf),
);
const IN_TEXT =
  /\b(?:in|since|as of|with|until) (?:(?:version |release |v)(?<version>\d+(?:\.\d+)*)|(?<other>\d+(?:\.\d+)+))(?![\p{L}\p{N}]|\.\d)/iu;

/** Returns the version in which something changed; the oldest one of those that say it as well, as what was added stays. */
function whichVersion(event: string, entries: readonly Entry[], asks: 'version' | 'date'): ToldParts | 'unsaid' | null {
  const deeds = deedsIn(event);
  const place = new Set(entries.flatMap(({ passage }) => stemsOf(passage.payload.documentName)));
  const words = [
    ...new Set(
      contentWords(event.replace(PARTS, ' '))
        .filter((word) => !isDeed(word))
        .map(stemOf),
    ),
  ].filter((stem) => !place.has(stem) && !EMPTY.has(stem));
  if (words.length === 0) return null;
  const scored = entries.map((entry) => {
    const { statement } = entry;
    const said = stemsOf(`${statement.text} ${statement.label}`);
    const own = deedsIn(`${statement.heading} ${statement.label} ${statement.text}`);
    const share = words.filter((stem) => said.includes(stem)).length / words.length;
    const isDeedSaid = deeds.length === 0 || deeds.some((deed) => own.includes(deed));
    // Where nothing is said of it, what is told was added or changed.
    const isDeedOpen = own.length === 0 && deeds.some((deed) => deed === 'added' || deed === 'changed');
    return { entry, score: isDeedSaid || isDeedOpen ? share + Number(isDeedSaid) * SAID : 0, share };
  });
  const most = Math.max(...scored.map(({ score, share }) => (share >= MIN_SAID ? score : 0)));
  if (most === 0) return asks === 'version' ? 'unsaid' : null;
  const best = scored.filter(({ score }) => score === most).map(({ entry }) => entry);
  const [first] = best.toSorted((one, other) => compare(one.version, other.version));
  if (first === undefined) return null;
  const { version, date } = first;
  const [one, other] = asks === 'date' ? [date, version] : [version, date];
  const short = one === null ? version : other === null ? one : `${one} (${other})`;
  return { short, quotes: [quoteOf(first, first.statement.text)] };
}

/** How much it counts that an entry says what was done. */
const SAID = 0.2;

/** What parts the words of names, and the number of an issue. */
const PARTS = /(?<=\p{Ll})(?=\p{Lu})|[_./()`'"-]/gu;

const deedOf = (word: string): Deed | null => DEEDS.find(([, pattern]) => pattern.test(word))?.[0] ?? null;
const isDeed = (word: string): boolean => deedOf(word) !== null;
const deedsIn = (text: string): readonly Deed[] =>
  [...new Set(wordsOf(text.replace(/\bno longer\b/giu, 'no-longer')).map(deedOf))].filter((deed) => deed !== null);

const stemsOf = (text: string): readonly string[] => withoutStopWords(text.replace(PARTS, ' ')).map(stemOf);
