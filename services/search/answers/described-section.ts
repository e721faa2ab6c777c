import { stemOf } from '../../common/text/language/tokenize.ts';
import { withoutStopWords, wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';
import type { ToldParts } from './told-parts.ts';

const MAX_QUESTION = 150;

/**
 * Answers questions that name a part of documentation as its writer does, with that part: what an option, a command or an error
 * is, by its item, row or section; why something is so, what was decided or follows, by that section of a document about it.
 * `unsaid`: what is named as an option or the like stands nowhere. Null for other questions, and without such a part.
 */
export function describedSection(question: string, passages: readonly ReadPassage[]): ToldParts | 'unsaid' | null {
  const text = question.trim();
  if (text.length > MAX_QUESTION) return null;
  return (
    describedName(text, passages) ??
    sectionOfKind(text, passages) ??
    consequenceOf(text, passages) ??
    conditionOf(text, passages)
  );
}

const KIND_OF_PART =
  '(?:options?|flags?|settings?|parameters?|arguments?|property|properties|fields?|headers?|methods?|functions?|commands?|events?|variables?|env(?:ironment)? vars?|errors?(?: codes?| messages?)?|warnings?|diagnostics?|(?:error |exit |status )?codes?|exit status|switch|keys?|hooks?|class|status|alerts?)';
const NAME = '[`\'"]?(?<name>[\\p{L}\\p{N}@$#.:/_*()[\\]-]*[\\p{L}\\p{N})])[`\'"]?';
const ASKS_NAME = [
  new RegExp(
    `^(?:what (?:should|do|can|must|shall) (?:I|we|you|one) do (?:about|with|on|for|against|(?:when|if)(?: (?:I|we|you|it|[\\p{L}]+) (?:get|gets|see|sees|receive|receives|hit|hits|says|reports))?)|how (?:do|can|should|to) (?:(?:I|we|you|one) )?(?:fix|solve|resolve|handle|deal with|get rid of|react to)|what (?:causes?|triggers?|leads to)|why (?:do|am|are) (?:I|we) (?:get|getting|see|seeing))(?: (?:the|an?))?(?: (?<owner>[^ ]+?)(?:['’]s)?)??(?: ${KIND_OF_PART})?(?:[:,])? ${NAME}(?<code> ${KIND_OF_PART})?(?: (?:in|of|with|for|from) (?<other>.+?))?\\??$`,
    'iu',
  ),
  new RegExp(
    `^what (?:does|do|did) (?:(?:the|an?) )?(?:(?<owner>[^ ]+?)(?:['’]s)? )??(?:${KIND_OF_PART} )?${NAME}(?<kind> ${KIND_OF_PART})?(?: (?:in|of|with|for|from) (?<other>.+?))? (?:do|mean|control|set|return|configure|say|stand for|contain|specify)(?: (?:in|of|with|for) (?<last>.+?))?\\??$`,
    'iu',
  ),
  new RegExp(
    `^what(?:['’]s| is| are) (?:(?:the|an?) )?(?:(?<owner>[^ ]+?)(?:['’]s)? )??(?:${KIND_OF_PART} )?${NAME}(?<kind> ${KIND_OF_PART})?(?: (?:in|of|with|for|from) (?<other>.+?))?(?: used| good| meant)? for(?: (?:in|of|with) (?<last>.+?))?\\??$`,
    'iu',
  ),
  new RegExp(
    `^what(?:['’]s| is) (?:(?:the|an?) )?(?:${KIND_OF_PART} )?${NAME}(?<kind> ${KIND_OF_PART})?(?: (?:in|of) (?<other>.+?))?\\??$`,
    'iu',
  ),
];
/** A name that no word of the language is: `maxAge`, `HM_GC_INTERVAL`, `--dry-run`, `E1007`, `fs.stat`. */
const NO_WORD = /\p{Ll}\p{Lu}|[_$@#/*()[\]]|\d|^-|[.:-](?=\p{L})|^\p{Lu}{2,}$/u;

/** Characters of a part that are quoted. */
const MAX_PART = 600;
const MAX_SENTENCES = 5;

/** Returns what documentation says of an option or the like at its own place. */
function describedName(question: string, passages: readonly ReadPassage[]): ToldParts | 'unsaid' | null {
  const groups = ASKS_NAME.map((pattern) => pattern.exec(question)?.groups).find((found) => found !== undefined);
  const name = groups?.['name'] ?? '';
  if (name === '' || !(NO_WORD.test(name) || groups?.['kind'] !== undefined)) return null;
  const owner = stemsOf([groups?.['owner'], groups?.['other'], groups?.['last']].filter(Boolean).join(' '));
  const isName = nameReader(name);
  let [best, least]: [ToldParts | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const passage of passages) {
    const all = statementsOf(passage);
    const at = all.findIndex((statement) => isName(statement) !== null);
    const first = all[at];
    if (first === undefined) continue;
    const place = stemsOf(
      [passage.payload.documentName, ...passage.payload.headings, ...(first.above ?? [])].join(' '),
    );
    const lost = owner.filter((stem) => !place.includes(stem)).length;
    // A heading says it of all below it, an item or a row of itself.
    const order = lost * 2 + (isName(first) === 'item' ? 0 : 1);
    if (lost === owner.length && lost > 0) continue;
    if (order < least) [best, least] = [{ short: null, quotes: [partFrom(all, at, passage)] }, order];
  }
  if (best !== null) return best;
  // The program that is named has no such part.
  const bare = name.toLowerCase().replace(/^[-.]+|\(\)$/gu, '');
  const isOfOwner = ({ documentName, headings }: ReadPassage['payload']) => {
    const place = stemsOf([documentName, ...headings].join(' '));
    return owner.every((stem) => place.includes(stem));
  };
  const own = passages.filter(({ payload }) => isOfOwner(payload));
  return own.length > 0 && own.every(({ payload }) => !payload.text.toLowerCase().includes(bare)) ? 'unsaid' : null;
}

/** Returns what tells whether a statement is at the place of a name: an item or a row that begins with it, or below its heading. */
function nameReader(name: string): (statement: Statement) => 'item' | 'section' | null {
  const bare = (text: string) => text.toLowerCase().replace(/[`'"*]/gu, '');
  const own = bare(name).replace(/\(\)$/u, '');
  const begins = (text: string) => {
    const said = bare(text.slice(0, MAX_NAME)).replace(/^[-–—•*.\s[]*(?=[\p{L}\p{N}$@#_])/u, '');
    return (
      said.startsWith(own.replace(/^[-.]+/u, '')) &&
      !/^[\p{L}\p{N}_-]/u.test(said.slice(own.replace(/^[-.]+/u, '').length))
    );
  };
  return ({ text, heading, isItem, isCommand, isValue, isQuestion }) => {
    if (isCommand === true || isValue === true || isQuestion === true) return null;
    const cell = /^[^,:]{1,30}: (?<cell>[^,]{1,80}), [^,:]{1,30}: /u.exec(text)?.groups?.['cell'];
    if ((isItem === true || /^-/u.test(text.trim())) && begins(text)) return 'item';
    if (cell?.split(/[,/ ]+/u).some((part) => bare(part) === own) === true) return 'item';
    // `4  no permission` below `EXIT STATUS`
    if (/^\d{1,3}$/u.test(name) && OF_CODES.test(heading) && begins(text)) return 'item';
    return begins(heading) && wordsOf(heading).length <= wordsOf(name).length + MAX_OTHER_WORDS ? 'section' : null;
  };
}

const OF_CODES = /\b(?:exit|status|codes?|errors?)\b/iu;
const MAX_NAME = 120;
/** Words of a heading beside the name: `E1007: lock held by another deploy`. */
const MAX_OTHER_WORDS = 8;

/** Returns a statement with those behind it that belong to its item, or to its section. */
function partFrom(all: readonly Statement[], at: number, passage: ReadPassage): ToldParts['quotes'][number] {
  const first = all[at] as Statement;
  const isItem = first.isItem === true;
  const said = [first.text];
  let length = first.text.length;
  // A line of a list of codes says all of its own.
  const rest = /^\d{1,3} /u.test(first.text) ? [] : all.slice(at + 1, at + MAX_SENTENCES);
  for (const next of rest) {
    if (next.heading !== first.heading || (isItem && next.isItem === true && !next.label.endsWith(first.text))) break;
    if (
      OPTION_LINE.test(next.text) ||
      next.isCommand === true ||
      next.isValue === true ||
      isRow(next) ||
      (!isItem && isRow(first))
    )
      break;
    length += next.text.length;
    if (length > MAX_PART) break;
    said.push(next.text);
  }
  return { text: said.join(' '), statement: first, passage };
}

/** `--dry-run  Only says what would be done.` */
const OPTION_LINE = /^--?\p{L}/u;
const isRow = ({ text }: Statement) => /^[^,:]{1,30}: [^,]{1,80}, [^,:]{1,30}: /u.test(text);

/** Questions that a section of a document about their subject answers, by the names that writers give it, the best first. */
const SECTIONS: readonly { readonly asks: RegExp; readonly headings: readonly RegExp[] }[] = [
  {
    asks: /^(?:why|how come|what(?:['’]s| is| was) the (?:reason|rationale|motivation) (?:for|of|behind|why))\b/iu,
    headings: [/^why\b/iu, /^(?:rationale|reasons?|reasoning|motivation|justification)\b/iu],
  },
  {
    asks: /^(?:what (?:did (?:we|they|the team|you) decide|(?:was|were|has been|is) (?:the decision|decided)|decision was)|which decision)\b/iu,
    headings: [/^(?:decision|resolution|outcome)\b/iu],
  },
  {
    asks: /^(?:what (?:else )?(?:do|must|should) (?:I|we|you) (?:need|have|install)\b(?: to (?:have|install|be)\b)?(?: (?:installed|ready))?|(?:what|which) (?:are the )?(?:prerequisites?|requirements?|tools)\b|what (?:is|are) (?:needed|required))/iu,
    headings: [
      /^(?:prerequisites?|requirements?|what (?:you|we) need|you (?:will )?need|before you (?:start|begin))\b/iu,
    ],
  },
  {
    asks: /^what (?:are|were|is) the (?:consequences?|drawbacks?|downsides?|trade-?offs?|costs?|disadvantages?)\b/iu,
    headings: [/^(?:consequences?|trade-?offs?|drawbacks?|negative|limitations?)\b/iu],
  },
  {
    asks: /^(?:what|which) (?:other )?(?:alternatives?|options?|approach\p{L}*) (?:were|was|are|did)\b/iu,
    headings: [/^(?:alternatives?|(?:considered )?options?)\b/iu],
  },
];

/** Share of the words of a question that the headings above a section, with its own and the name of the document, must say. */
const MIN_NAMED = 0.75;
const WORDS_OF_SECTIONS = new Set(
  'reason rationale motivation decide decision decided consequence drawback downside tradeoff alternative option approach considered regarding choose chose chosen use need install start begin hand manually first locally'
    .split(' ')
    .map(stemOf),
);

/** Returns the section of a document about the subject of a question that says why, what was decided or what follows. */
function sectionOfKind(question: string, passages: readonly ReadPassage[]): ToldParts | null {
  const kind = SECTIONS.find(({ asks }) => asks.test(question));
  const words = stemsOf(question.replace(kind?.asks ?? '', ' ')).filter((stem) => !WORDS_OF_SECTIONS.has(stem));
  if (kind === undefined || words.length === 0) return null;
  let [best, most]: [ToldParts | null, number] = [null, 0];
  for (const passage of passages) {
    const all = statementsOf(passage);
    const read = new Set<string>();
    for (const [at, { heading, above = [] }] of all.entries()) {
      const rank = read.has(heading) ? -1 : kind.headings.findIndex((pattern) => pattern.test(heading));
      read.add(heading);
      if (rank < 0) continue;
      const own = stemsOf([heading, ...above].join(' '));
      const place = new Set([...own, ...stemsOf(passage.payload.documentName)]);
      const share = words.filter((stem) => place.has(stem)).length / words.length;
      const score = share - rank * RANK;
      if (share < MIN_NAMED || score <= most) continue;
      [best, most] = [{ short: null, quotes: [listFrom(all, at, passage) ?? partFrom(all, at, passage)] }, score];
    }
  }
  return best;
}

/** Returns the items of a section that begins with one. */
function listFrom(all: readonly Statement[], at: number, passage: ReadPassage): ToldParts['quotes'][number] | null {
  const first = all[at] as Statement;
  if (first.isItem !== true) return null;
  const end = all.findIndex((one, index) => index > at && one.heading !== first.heading);
  const said = all.slice(at, end < 0 ? all.length : end).slice(0, MAX_ITEMS);
  const text = said
    .map(
      (one, index) =>
        `${index === 0 ? '' : one.isItem === true ? '; ' : ' '}${said[index + 1]?.isItem === true ? one.text.replace(/[.;]$/u, '') : one.text}`,
    )
    .join('');
  return text.length > MAX_PART ? null : { text, statement: first, passage };
}

const MAX_ITEMS = 15;
/** How much less a section with a less sure name counts. */
const RANK = 0.05;

const ASKS_CONSEQUENCE =
  /^what (?:happens|will happen|would happen|is the result|does it do) (?:if|when|in case) (?<when>.+?)\??$/iu;
const CONDITION = /^(?:if|when|whenever|in case|unless) (?<when>[^,;:]{3,120})(?:,| then )/iu;
const DENIED = /\b(?:not|no|neither|nor|none|without|never|un\p{L}+|\p{L}+n['’]t)\b/iu;
/** Share of the words of the condition of a question and of a sentence that must be the same. */
const MIN_SAME = 0.75;

/** Returns the sentence that begins with the condition of which a question asks what happens then, with the next one. */
function consequenceOf(question: string, passages: readonly ReadPassage[]): ToldParts | null {
  const when = ASKS_CONSEQUENCE.exec(question)?.groups?.['when'];
  const asked = when === undefined ? [] : stemsOf(when.replace(/ (?:in|of|with|for) \S+$/u, ' '));
  if (when === undefined || asked.length < 2) return null;
  let [best, most]: [ToldParts | null, number] = [null, MIN_SAME];
  for (const passage of passages) {
    const all = statementsOf(passage);
    for (const [at, { text }] of all.entries()) {
      const told = CONDITION.exec(text)?.groups?.['when'];
      if (told === undefined || DENIED.test(told) !== DENIED.test(when)) continue;
      const said = stemsOf(told);
      const same = said.filter((stem) => asked.includes(stem)).length;
      const share = same / Math.max(asked.length, said.length);
      if (share <= most) continue;
      [best, most] = [{ short: null, quotes: [partFrom(all.slice(0, at + 2), at, passage)] }, share];
    }
  }
  return best;
}

const ASKS_CONDITION =
  /^(?:when|under (?:what|which) (?:conditions?|circumstances)) (?:does|do|is|are|will) (?<what>.+?)\??$/iu;
const SAYS_CONDITION = /\b(?:when|if|once|as soon as|unless|after|whenever)\b/iu;

/** Returns the sentence that says on which condition something that only code is called so happens: an alert, an error. */
function conditionOf(question: string, passages: readonly ReadPassage[]): ToldParts | null {
  const what = ASKS_CONDITION.exec(question)?.groups?.['what'] ?? '';
  const name =
    what
      .split(/\s+/u)
      .find((word) => /\p{Ll}\p{Lu}|_/u.test(word))
      ?.replace(/[`'"]/gu, '') ?? '';
  if (name === '') return null;
  const asked = stemsOf(what);
  for (const passage of passages) {
    const found = statementsOf(passage).find(({ text, isQuestion }) => {
      if (isQuestion === true || !text.includes(name) || !SAYS_CONDITION.test(text)) return false;
      const said = stemsOf(text);
      return asked.every((stem) => said.includes(stem));
    });
    if (found !== undefined) return { short: null, quotes: [{ text: found.text, statement: found, passage }] };
  }
  return null;
}

const stemsOf = (text: string): readonly string[] => [
  ...new Set(withoutStopWords(text.replace(/(?<=\p{Ll})(?=\p{Lu})|[_./-]/gu, ' ')).map(stemOf)),
];
