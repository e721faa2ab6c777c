import { OWNER_NAME } from '../../../domain/speaker.ts';
import { wordInformation } from '../../language/common-words.ts';
import { KIN_SYNONYMS } from '../../language/kin-words.ts';
import { ownRelatives, ownStatement } from '../../language/own-statements.ts';
import { STOP_WORDS } from '../../language/stop-words.ts';
import { wordSenses } from '../../words/word-senses.ts';
import { wordTable } from '../../words/word-table.ts';
import type { Argument } from './clause-levels.ts';
import type { ForeignLanguage } from './foreign.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import { PARTICLE, snakeCase, UNCERTAIN, UNDONE_VERBS } from './relation-phrase.ts';
import type { TaggedWord } from './tagger.ts';
import { JUDGING_ADJECTIVES, TYPE_NOUNS, WEAK_WORDS, WORK_ENDINGS } from './type-words.ts';

/** Statements of a sentence in the first person about its speaker. */
export interface FirstPerson {
  /** `me`, `us` and unnamed persons of the speaker (`my uncle`): arguments for the relations of the other names. */
  readonly arguments: readonly Argument[];
  readonly relations: readonly SpokenRelation[];
}

export interface SpokenRelation {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  /** Type of the target, when the words beside it tell. */
  readonly type: 'Person' | 'Concept' | null;
}

interface Named {
  readonly name: string;
  readonly type: string;
}

/** A noun phrase: a name of the text, or common nouns. */
interface Phrase {
  /** Null: nothing that a reader would look for. */
  readonly name: string | null;
  readonly mention: Named | null;
  /** Last noun that is no name: `cat` in `our cat Luna`. */
  readonly head: string | null;
  /** All of them with their adjectives: `favourite colour`. */
  readonly label: string;
  /** The same with its ordinary words: `first day`. */
  readonly whole: string;
  /** Index of the word after it. */
  readonly next: number;
}

const PERSONS = new Set(
  `father mother dad mum mom parent grandfather grandmother grandpa grandma grandparent brother sister sibling son daughter child
  uncle aunt cousin nephew niece wife husband spouse partner fiance fiancee girlfriend boyfriend friend roommate flatmate
  neighbour neighbor boss manager colleague coworker mentor teacher professor coach therapist doctor dentist landlord`.split(
    /\s+/u,
  ),
);
/** Words after which something was not done, or is not known to be so. */
const UNSTATED = new RegExp(`^(?:${UNCERTAIN}|ca|must|will|wo|shall|['’]d|['’]ll)$`, 'iu');
const UNDONE = new RegExp(`^(?:${UNDONE_VERBS}|consider|forget|avoid|stop)$`, 'u');
/** `proposed splitting plot 31`: what is planned is no thing. */
const VERBS_OF_PLANS = /^(?:propose|suggest|consider|discuss|recommend|stop|finish)$/u;
/** Verbs that say too little about a thing without a name. */
const LIGHT_VERBS = new Set(
  `be do get go come say tell think know feel see look mean let want need seem try make take put give keep spend hit stop
  consider decide manage forget remember realise realize find leave turn hold hope believe hear show bring call ask
  sit stand wait notice lose pick fall name carry watch`.split(/\s+/u),
);
/** Tastes and habits: even a common word is a fact here. */
const TASTES = new Set(
  'like love prefer enjoy hate dislike adore eat drink play study speak own drive wear collect learn teach practise practice'.split(
    ' ',
  ),
);
/** Events of a life, whose year is a fact even without an object: `graduated in 2010`. */
const EVENTS = new Set('bear graduate retire marry divorce move emigrate immigrate enlist qualify'.split(' '));
/** One label for what relatives are called by several words. */
const KIN = new Map([...KIN_SYNONYMS].flatMap(([label, others]) => others.map((word) => [word, label] as const)));
/** Nouns that say nothing by themselves: times, and parts of what follows their `of`. */
const GENERAL =
  /^(?:basic|importance|lots?|tons?|bunch|morning|evening|night|afternoon|summer|winter|spring|autumn|fall|today|tomorrow|season|century|decade|chapter|kilo|cup|glass|bottle|slice|lesson|course|class|love|life|home|help|fun|luck|lives|machine|own|role|online|while|entire|version|option|draft|proposal)$/u;
const ABSTRACT = /(?:tion|sion|ment|ness|ity|ance|ence|ship|ism|ure|age|ly|al|th)$/u;
const MARRIED = /^(?:married|engaged|divorced)$/iu;
const BE = /^(?:am|is|are|was|were|been|being|be|['’]m|['’]re|['’]s)$/iu;
const CLAUSE = /^(?:when|where|while|because|that|which|who|whose|if|although|though|until|before|after|so|than)$/iu;
const QUOTE = /^["“”„«»]$/u;
/** Prepositions whose noun tells something when the verb has no object: `work as a nurse`. */
const TELLING = /^(?:as|at|for|in|with|on|to|about|into)$/iu;

/** Reads what the speaker says of itself: `I`, `we`, `my …`, outside quotations and questions. */
export function readFirstPerson(
  { sentence, words, mentions, language }: AnalysedSentence,
  speaker: string,
  nameOf: (mention: Mention) => Named | null,
): FirstPerson {
  const foreign = readForeign(sentence, { mentions, language, speaker, nameOf });
  if (foreign !== null) return foreign;
  const isSpoken = words.some(({ text }) => /^(?:I|we|me|us|my|our)(?:$|['’])/iu.test(text));
  if (!isSpoken || /\?["”'’)]*$/u.test(sentence.text)) return { arguments: [], relations: [] };
  return new SpokenSentence(words, mentions, speaker, nameOf).read();
}

/** Reads what named persons and companies do to things without a name: `Theo bought tickets`. */
export function readActs(
  { words, mentions }: AnalysedSentence,
  actors: readonly Argument[],
  nameOf: (mention: Mention) => Named | null,
): SpokenRelation[] {
  return actors.flatMap((actor) => new SpokenSentence(words, mentions, actor.name, nameOf).readActsFrom(actor.end));
}

/** A plain statement in German, Spanish or French, and relatives named in it: `notre fille Chloé`; null otherwise. */
function readForeign(
  sentence: AnalysedSentence['sentence'],
  {
    mentions,
    language,
    speaker,
    nameOf,
  }: {
    readonly mentions: readonly Mention[];
    readonly language: ForeignLanguage | null;
    readonly speaker: string;
    readonly nameOf: (mention: Mention) => Named | null;
  },
): FirstPerson | null {
  const namedAt = (start: number, end: number): Named | null => {
    const mention = mentions.find((one) => !one.isNested && one.start < end && start < one.end);
    return mention === undefined ? null : nameOf(mention);
  };
  const relatives = language === null ? [] : ownRelatives(sentence.text);
  const relations = relatives.flatMap(({ relation, end }): SpokenRelation[] => {
    // `unsere Töchter Marie und Johanna`
    const more = /^\p{Lu}[\p{L}-]+(?: und | y | et )(?=\p{Lu})/u.exec(sentence.text.slice(end))?.[0].length ?? 0;
    return [namedAt(end, end + 1), more === 0 ? null : namedAt(end + more, end + more + 1)].flatMap((named) =>
      named === null ? [] : [{ source: speaker, relation, target: named.name, type: null }],
    );
  });
  const own = ownStatement(sentence.text);
  if (own !== null) {
    const start = sentence.text.lastIndexOf(own.value);
    const named = namedAt(start, start + own.value.length);
    const type = named === null ? 'Concept' : null;
    relations.push({ source: speaker, relation: own.relation, target: named?.name ?? own.value, type });
  }
  return relations.length === 0 ? null : { arguments: [], relations };
}

class SpokenSentence {
  readonly #words: readonly TaggedWord[];
  readonly #mentions: readonly Mention[];
  readonly #speaker: string;
  readonly #nameOf: (mention: Mention) => Named | null;
  readonly #arguments: Argument[] = [];
  readonly #relations: SpokenRelation[] = [];
  /** The speaker is not the one who acts. */
  #isOther = false;

  constructor(
    words: readonly TaggedWord[],
    mentions: readonly Mention[],
    speaker: string,
    nameOf: (mention: Mention) => Named | null,
  ) {
    this.#words = words.filter(({ pos }) => pos !== 'SPACE');
    this.#mentions = mentions.filter(({ isNested }) => !isNested);
    this.#speaker = speaker;
    this.#nameOf = nameOf;
  }

  read(): FirstPerson {
    let isQuoted = false;
    for (const [at, { text }] of this.#words.entries()) {
      if (QUOTE.test(text)) isQuoted = !isQuoted;
      else if (isQuoted) continue;
      else if (/^(?:I|[Ww]e)(?:['’](?:m|re))?$/u.test(text)) this.#readClause(at + 1, /['’]/u.test(text));
      else if (/^(?:me|us)$/u.test(text)) this.#argue(this.#speaker, at, at + 1);
      else if (/^(?:my|our)$/iu.test(text)) this.#readPossessive(at);
    }
    return { arguments: this.#arguments, relations: this.#relations };
  }

  /** `end`: where the one who acts is named. */
  readActsFrom(end: number): SpokenRelation[] {
    const at = this.#words.findIndex(({ start }) => start >= end);
    const quotes = this.#words.slice(0, Math.max(0, at)).filter(({ text }) => QUOTE.test(text)).length;
    if (at === -1 || quotes % 2 === 1) return [];
    this.#isOther = true;
    this.#readClause(at);
    return this.#relations.filter(({ type, relation }) => type === 'Concept' && relation !== 'is_a');
  }

  #argue(name: string, from: number, until: number): void {
    const start = this.#words[from]?.start ?? 0;
    this.#arguments.push({ name, type: 'Person', start, end: this.#words[until - 1]?.end ?? start });
  }

  #state(relation: string, target: string, type: SpokenRelation['type']): void {
    if (target !== this.#speaker && relation !== '')
      this.#relations.push({ source: this.#speaker, relation: KIN.get(relation) ?? relation, target, type });
  }

  /** From the first word after the subject. */
  #readClause(from: number, isContracted = false): void {
    const aversion = this.#aversionAt(from);
    if (aversion !== null) {
      this.#readObjects(aversion.next, aversion.relation, 'like');
      return;
    }
    let at = from;
    let be = isContracted;
    for (; at < this.#words.length; at++) {
      const { text, pos } = this.#words[at] as TaggedWord;
      if (UNSTATED.test(text)) return;
      be ||= BE.test(text);
      if (pos !== 'AUX' && pos !== 'ADV' && pos !== 'PART') break;
    }
    // `got married` is no getting.
    if (/^(?:get|got)$/iu.test(this.#words[at]?.text ?? '') && MARRIED.test(this.#words[at + 1]?.text ?? '')) {
      this.#readObjects(at + 2, `${this.#words[at + 1]?.text.toLowerCase()}`, 'marry');
      return;
    }
    let verb: TaggedWord | null = null;
    for (; this.#words[at]?.pos === 'VERB'; at++) {
      if (verb !== null && UNDONE.test(verb.lemma.toLowerCase())) return;
      verb = this.#words[at] as TaggedWord;
      if (/^to$/u.test(this.#words[at + 1]?.text ?? '') && this.#words[at + 2]?.pos === 'VERB') at++;
    }
    if (verb === null && be && /^an?$/u.test(this.#words[at]?.text ?? '')) {
      const phrase = this.#phraseAt(at);
      const last = this.#words[(phrase?.next ?? 0) - 1];
      // `a UX designer`
      const isOfName =
        phrase?.mention != null && phrase.mention.type !== 'Date' && last?.pos === 'NOUN' && isContent(last);
      if (phrase !== null && isOfName) this.#state('is_a', this.#textOf(at, phrase.next), 'Concept');
      else if (phrase?.name != null) this.#state('is_a', phrase.name, phrase.mention === null ? 'Concept' : null);
    }
    // `I have a dog`: the auxiliary is the verb.
    const auxiliary = this.#words[at - 1];
    const isOwned = /^(?:have|has|had)$/iu.test(auxiliary?.text ?? '') && !/^the$/iu.test(this.#words[at]?.text ?? '');
    const isAdjective = this.#words[at]?.pos === 'ADJ' && this.#words[at + 1]?.pos === 'ADP';
    // `I am allergic to peanuts`; what one was is over.
    if (verb === null && be && isAdjective && !/^(?:was|were|been)$/iu.test(auxiliary?.text ?? '')) {
      this.#readObjects(at + 1, (this.#words[at] as TaggedWord).text.toLowerCase(), 'like');
      return;
    }
    if (verb === null) {
      if (at > from && isOwned) this.#readObjects(at, 'has', 'have');
      return;
    }
    const lemma = verb.lemma.toLowerCase();
    const isPassive = be && !/ing$/u.test(verb.text);
    this.#readObjects(at, lemma === 'have' ? 'has' : snakeCase(isPassive ? verb.text : lemma), lemma);
  }

  /** `can't stand`, `don't like`: to deny a taste is to state one. */
  #aversionAt(from: number): { readonly relation: string; readonly next: number } | null {
    const words = this.#words.slice(from, from + 5).map(({ text }) => text.toLowerCase().replace('’', "'"));
    const opening = words.join(' ');
    const found =
      /^(?:do n't|don't|do not|never|can't|ca n't|can not|cannot|could n't|couldn't) (?:really )?(?:like|stand|bear)(?! (?:enough|much|as|so|before|after|at)\b)/u.exec(
        opening,
      );
    if (found === null) return null;
    return { relation: 'dislike', next: from + found[0].split(' ').length };
  }

  /** Objects of a verb, and what follows its prepositions, up to the end of the clause. */
  #readObjects(start: number, bareVerb: string, lemma: string): void {
    const particle = this.#words[start]?.text ?? '';
    const isParticle = PARTICLE.test(particle);
    const from = isParticle ? start + 1 : start;
    const verb = isParticle ? `${bareVerb}_${particle}` : bareVerb;
    let relation = verb;
    let preposition: string | null = null;
    let hasObject = false;
    let isAlone = true;
    let object = '';
    let isPart = false;
    for (let at = from; at < this.#words.length; ) {
      const word = this.#words[at] as TaggedWord;
      if (CLAUSE.test(word.text)) return;
      if (this.#isNominal(at)) {
        const phrase = this.#phraseAt(at);
        if (phrase !== null && lemma === 'have' && this.#readNamed(phrase)) return;
        // `I learned a crew had cut it`: another clause.
        if (phrase === null || /^(?:VERB|AUX)$/u.test(this.#words[phrase.next]?.pos ?? '')) return;
        // `met Carmen, a guide from Seville`: the rest tells of Carmen.
        const isApposition = !isAlone && this.#words[at - 1]?.text === ',' && /^(?:an?|the)$/u.test(word.text);
        if (isApposition && phrase.mention === null && this.#words[phrase.next]?.text !== ',') return;
        const last = this.#words[phrase.next - 1];
        // `moved to Prometheus last spring`
        const isModifier =
          phrase.mention !== null && phrase.mention.type !== 'Date' && last?.pos === 'NOUN' && isContent(last);
        if (isModifier && lemma === 'become') return;
        // `restarted the Redis cluster`, but `read the Pro Git book` is about Pro Git
        if (isModifier && (this.#isOther || !isClassOfName(last))) {
          if (!LIGHT_VERBS.has(lemma) && (preposition === null || !this.#isOther))
            this.#state(relation, isClassOfName(last) ? phrase.mention.name : this.#textOf(at, phrase.next), 'Concept');
          if (this.#isOther) return;
          hasObject ||= preposition === null;
          isAlone = false;
          at = phrase.next;
          continue;
        }
        const use = { lemma, preposition, hasObject, leastRank: this.#isOther ? MIN_RANK_OF_OTHERS : MIN_RANK };
        const person = this.#personAt(at, phrase);
        if (phrase.mention?.type === 'Date') {
          // `ran a marathon in 2016` is no relation to the year.
          if (isAlone && EVENTS.has(lemma)) this.#state(relation, phrase.mention.name, null);
        } else if (phrase.mention !== null) {
          // `took the train to Hamburg`, `read the book by Frank Herbert`
          const via =
            object !== '' && preposition !== null && (LIGHT_VERBS.has(lemma) || /^(?:by|of|about)$/u.test(preposition))
              ? `${verb}_${snakeCase(`${object} ${preposition}`)}`
              : null;
          if (isTellingOfName(phrase, use)) this.#state(via ?? relation, phrase.mention.name, null);
        } else if (person !== null) this.#state(relation, person, 'Person');
        else if (
          phrase.name !== null &&
          !isPart &&
          !(VERBS_OF_PLANS.test(lemma) && /ing\b/u.test(phrase.name)) &&
          !this.#isOfOthers(at) &&
          isTelling(phrase.name, use)
        )
          this.#state(relation, phrase.name, 'Concept');
        isAlone = false;
        if (preposition === null && object === '') object = phrase.head ?? '';
        hasObject ||= preposition === null;
        at = phrase.next;
        // `the basics of Python` is about Python, `the importance of backups` not about a backup.
        isPart = phrase.name === null && this.#words[at]?.text === 'of';
        if (isPart) at++;
      } else if (word.pos === 'ADP' || /^(?:to|since)$/iu.test(word.text)) {
        preposition = word.text.toLowerCase();
        relation = `${verb}_${snakeCase(preposition)}`;
        at++;
      } else if (word.pos === 'ADV' || (isJoint(word) && this.#isNominal(this.#afterJoints(at)) && !this.#acts(at)))
        at++;
      else {
        if (word.pos === 'CCONJ' && this.#words[at + 1]?.pos === 'VERB') this.#readClause(at + 1);
        return;
      }
    }
  }

  #afterJoints(at: number): number {
    let next = at;
    while (isJoint(this.#words[next])) next++;
    return next;
  }

  /** Whether the noun after a comma or `and` begins a clause: `and the fort survived`. */
  #acts(at: number): boolean {
    const phrase = this.#phraseAt(this.#afterJoints(at));
    const next = this.#words[phrase?.next ?? at];
    return next?.pos === 'VERB' || next?.pos === 'AUX' || next?.pos === 'PRON';
  }

  /** The nouns and names of a phrase. */
  #textOf(from: number, until: number): string {
    const words = this.#words.slice(from, until);
    return words
      .filter(({ pos }, at) => pos === 'NOUN' || pos === 'PUNCT' || this.#mentionAt(from + at) !== undefined)
      .map(({ text }) => text)
      .join(' ')
      .replaceAll(' - ', '-')
      .toLowerCase();
  }

  #isNominal(at: number): boolean {
    const word = this.#words[at];
    if (word === undefined) return false;
    if (/^(?:my|our|his|her|their|its)$/iu.test(word.text) || /^['‘’]$/u.test(word.text)) return true;
    return /^(?:DET|ADJ|NOUN|PROPN|NUM)$/u.test(word.pos) || this.#mentionAt(at) !== undefined;
  }

  #mentionAt(at: number): Mention | undefined {
    const word = this.#words[at];
    return word && this.#mentions.find(({ start, end }) => start < word.end && word.start < end);
  }

  #phraseAt(from: number): Phrase | null {
    let at = from;
    while (this.#words[at]?.pos === 'DET' || this.#isPossessive(at) || this.#isMark(at)) at++;
    const own: TaggedWord[] = [];
    let found: Mention | undefined;
    for (; at < this.#words.length; at++) {
      const word = this.#words[at] as TaggedWord;
      const here = this.#mentionAt(at);
      if (here !== undefined) {
        if (found !== undefined && found !== here) break;
        found = here;
      } else if (/^(?:NOUN|ADJ|NUM|PROPN)$/u.test(word.pos) || (word.text === '-' && own.length > 0)) {
        // Behind a name: `the Computer Science program`.
        if (found === undefined) own.push(word);
      } else if (found !== undefined || !this.#isMark(at) || this.#mentionAt(at + 1) === undefined) break;
    }
    if (at === from) return null;
    const nouns = own.filter((word) => isContent(word));
    const last = nouns.findLastIndex(({ pos }) => pos === 'NOUN');
    const words = nouns.slice(Math.max(0, last - 2), last + 1);
    const label = labelOf(words);
    const mention = found === undefined || found.kind === 'quantity' ? null : this.#nameOf(found);
    return {
      name: mention?.name ?? (found === undefined && label !== '' ? label : null),
      mention,
      head: words.at(-1)?.lemma.toLowerCase() ?? null,
      label,
      whole: labelOf(own),
      next: at,
    };
  }

  /** `her exact recipe` */
  #isOfOthers(at: number): boolean {
    const owners = this.#isOther ? /^(?:my|our|his|her|their|its|your)$/iu : /^(?:his|her|their|its|your)$/iu;
    return owners.test(this.#words[at]?.text ?? '');
  }

  #isPossessive(at: number): boolean {
    return /^(?:my|our|his|her|their|its)$/iu.test(this.#words[at]?.text ?? '');
  }

  #isMark(at: number): boolean {
    return /^['‘’"“]$/u.test(this.#words[at]?.text ?? '');
  }

  /** `my uncle`; null for anybody else. */
  #personAt(at: number, { head, mention }: Phrase): string | null {
    const isOwn = /^(?:my|our)$/iu.test(this.#words[at]?.text ?? '');
    if (this.#isOther || !isOwn || head === null || mention !== null || !PERSONS.has(head)) return null;
    return `${this.#speaker === OWNER_NAME ? 'my' : `${this.#speaker}’s`} ${head}`;
  }

  /** `my sister Ana`, `my dog is called Rex`, `my favourite colour is green`, `my uncle`. */
  #readPossessive(at: number): void {
    const phrase = this.#phraseAt(at + 1);
    if (phrase === null) return;
    const { head, mention, label, whole, next } = phrase;
    const before = this.#words[at - 1];
    // `Anneke Vos, our bookkeeper,`
    const described = before?.text === ',' && mention === null && head !== null ? this.#mentionAt(at - 2) : undefined;
    if (described?.kind === 'name' && described.end === before?.start && this.#isEnd(next)) {
      const named = this.#nameOf(described);
      const type = typeOfHead(head ?? '');
      if (named !== null && (type === 'Person' || /^(?:Person|Organisation)$/u.test(named.type))) {
        this.#state(snakeCase(label), named.name, type);
        return;
      }
    }
    if (mention !== null) {
      if (head !== null) this.#state(snakeCase(head), mention.name, typeOfHead(head));
      return;
    }
    const isObject = before?.pos === 'VERB' && /^(?:I|we)$/iu.test(this.#words[at - 2]?.text ?? '');
    // `my first day at the University of Belgrade`
    const isRead = isObject && !LIGHT_VERBS.has(before?.lemma ?? '');
    const isGoverning = !isRead && this.#words[next]?.pos === 'ADP' && whole !== '';
    const place = isGoverning && this.#isNominal(next + 1) ? this.#phraseAt(next + 1) : null;
    if (place?.mention != null && place.mention.type !== 'Date' && place.head === null) {
      this.#state(snakeCase(`${whole} ${this.#words[next]?.text}`), place.mention.name, null);
      return;
    }
    const own = whole === 'name' ? this.#nameBehind(next) : null;
    if (own !== null) {
      this.#state('name', own, 'Person');
      return;
    }
    const named = head === null ? null : this.#nameBehind(next);
    const person = this.#personAt(at, phrase);
    const isCode = named !== null && /\d/u.test(named) && CODE_NAME.test(whole);
    if (isCode) this.#state(snakeCase(whole), named, 'Concept');
    else if (named !== null && head !== null) this.#state(snakeCase(label), named, typeOfHead(head));
    else if (person !== null) {
      this.#argue(person, at, next);
      this.#state('has', person, 'Person');
    } else if (/^favou?rite /u.test(label) && this.#words[next]?.pos === 'AUX') this.#readFavourite(label, next + 1);
  }

  /** Whether a phrase or clause ends before a word. */
  #isEnd(at: number): boolean {
    const word = this.#words[at];
    return word === undefined || word.pos === 'PUNCT';
  }

  /** `a dog named Pablo` */
  #readNamed({ head, label, mention, next }: Phrase): boolean {
    if (mention !== null || head === null || !/^(?:called|named)$/u.test(this.#words[next]?.text ?? '')) return false;
    const named = this.#nameBehind(next);
    if (named !== null) this.#state(snakeCase(label), named, typeOfHead(head));
    return named !== null;
  }

  #readFavourite(label: string, at: number): void {
    const value = this.#phraseAt(at);
    const adjective = this.#words[at];
    if (value === null || adjective?.pos === 'DET' || this.#isWord(value.next)) return;
    const target = value.name ?? (adjective?.pos === 'ADJ' ? adjective.text.toLowerCase() : null);
    if (target !== null) this.#state(snakeCase(label), target, value.mention === null ? 'Concept' : null);
  }

  #isWord(at: number): boolean {
    const word = this.#words[at];
    return word !== undefined && word.pos !== 'PUNCT' && word.pos !== 'ADP';
  }

  /** `is called Rex`, `'s name is Ana`, `, Rex,`, `is Ana`. */
  #nameBehind(from: number): string | null {
    let at = from;
    const texts = (count: number): string =>
      this.#words
        .slice(at, at + count)
        .map(({ text }) => text.toLowerCase())
        .join(' ');
    if (/^['’]s name$/u.test(texts(2))) at += 2;
    if (/^,$/u.test(texts(1))) at += 1;
    else if (/^(?:is|was|are|were)$/u.test(texts(1)))
      at += /^(?:called|named)$/u.test(this.#words[at + 1]?.text ?? '') ? 2 : 1;
    else if (/^(?:called|named)$/u.test(texts(1))) at += 1;
    else return null;
    while (/^(?:["“'‘]|on|at|(?:dr|prof|mr|mrs|ms)\.?)$/u.test(texts(1))) at += 1;
    const mention = this.#mentionAt(at);
    if (mention === undefined || mention.start !== this.#words[at]?.start) return null;
    const after = this.#words.find(({ start }) => start >= mention.end);
    const isWhole =
      after === undefined ||
      after.pos === 'PUNCT' ||
      after.pos === 'CCONJ' ||
      after.pos === 'SCONJ' ||
      after.pos === 'ADP';
    return isWhole ? (this.#nameOf(mention)?.name ?? null) : null;
  }
}

/** What identifies something, and is not the thing: `passport number`. */
const CODE_NAME = / (?:number|id|code|plate|iban|pin)$/u;

/** A noun behind a name that tells what has the name. */
function isClassOfName(word: TaggedWord | undefined): boolean {
  const noun = word?.lemma.toLowerCase() ?? '';
  return TYPE_NOUNS.has(noun) || WORK_ENDINGS.has(noun) || /^(?:course|program|programme|project)$/u.test(noun);
}

/** Least likeness of a noun to the kinds that have names of persons. */
const MIN_LIKENESS = 0.5;

/** `partner`, `manager`: what only a person is to somebody. */
export function isPersonNoun(noun: string): boolean {
  return PERSONS.has(noun);
}

/** The type of a name by what it is to its owner: `my manager`, `my sourdough starter`; null for animals and other nouns. */
function typeOfHead(head: string): 'Person' | 'Concept' | null {
  if (PERSONS.has(head) || TYPE_NOUNS.get(head) === 'Person') return 'Person';
  const senses = wordSenses();
  const row = senses.row(head);
  const isAlive = ['person', 'animal'].some((kind) => senses.kindOf(senses.row(kind))(row, 0) >= MIN_LIKENESS);
  return row < 0 || isAlive || TYPE_NOUNS.has(head) ? null : 'Concept';
}

function isJoint(word: TaggedWord | undefined): boolean {
  return word !== undefined && (word.text === ',' || /^(?:and|or|&)$/u.test(word.text));
}

function isContent({ text, lemma, pos }: TaggedWord): boolean {
  const lower = text.toLowerCase();
  if (
    pos === 'NUM' ||
    GENERAL.test(lower) ||
    GENERAL.test(lemma.toLowerCase()) ||
    WEAK_WORDS.has(lower) ||
    WEAK_WORDS.has(lemma) ||
    STOP_WORDS.has(lower)
  )
    return false;
  return lower.length > 2 && /^[\p{L}-]+$/u.test(lower) && !JUDGING_ADJECTIVES.has(lower);
}

interface Use {
  readonly lemma: string;
  readonly preposition: string | null;
  readonly hasObject: boolean;
  /** Frequency rank of a noun that tells something by itself. */
  readonly leastRank: number;
}

function labelOf(words: readonly TaggedWord[]): string {
  const texts = words.map(({ text, lemma }, at) => {
    const isPlural = at === words.length - 1 && /[^s]s$/iu.test(text) && !/ics$/iu.test(text);
    return (isPlural ? lemma : text).toLowerCase();
  });
  return texts.join(' ').replaceAll(' - ', '-');
}

/** A verb that says little relates the speaker to a name only directly, or by where it was: `spent a year in Berlin`. */
function isTellingOfName({ mention, head }: Phrase, { lemma, preposition, hasObject }: Use): boolean {
  if (!LIGHT_VERBS.has(lemma)) return true;
  if (preposition === null) return head === null;
  return !hasObject || mention?.type === 'Place';
}

/** Whether common nouns behind a verb are a fact about the speaker: `play chess`, `plant tomatoes`, not `spend four hours`. */
function isTelling(name: string, { lemma, preposition, hasObject, leastRank }: Use): boolean {
  if (LIGHT_VERBS.has(lemma)) return false;
  if (preposition !== null && (hasObject || !TELLING.test(preposition))) return false;
  if (TASTES.has(lemma)) return true;
  const words = name.split(/[ -]/u);
  // `I have a street` tells nothing that a reader would look for, `ran a marathon` does.
  if (words.length === 1 && preposition !== 'as') {
    const rank = wordTable().find(name)?.rank ?? MIN_RANK;
    return preposition === null && lemma !== 'have' && rank >= leastRank && !ABSTRACT.test(name);
  }
  const least = MIN_INFORMATION - (words.length - 1) / 2;
  return words.some((word) => wordInformation(word) >= least) && !ABSTRACT.test(words.at(-1) ?? '');
}

/** Frequency rank of a noun that tells something by itself. */
const MIN_RANK = 4500;
/** The same for what others do: they are written about less, and what is written counts. */
const MIN_RANK_OF_OTHERS = 1500;
/** `ln` of the frequency rank, as in `concepts.ts`. */
const MIN_INFORMATION = 6;
