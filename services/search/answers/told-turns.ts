import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { keptByText } from '../../common/kernel/recently-used.ts';
import { isConversation, roleOf, turnsOf } from '../../common/text/language/turns.ts';
import type { RankedPassage } from '../model.ts';
import { isForeignText } from './foreign-text.ts';

/** How the turns of a passage are read: as somebody tells of them who was there. */
export interface Telling {
  /** Who speaks in the passages. */
  readonly speakers: readonly string[];
  /** What the question asks of speech; null for any other question. */
  readonly speech: Speech | null;
  /** The one speaker that the question names; null for none or several. */
  readonly asked: string | null;
}

/** `suggested` of "Who suggested the trip?" and of "What did Nora suggest?" */
interface Speech {
  readonly verb: string;
  /** Whose words may be asked for. */
  readonly by: readonly string[];
  /** The speaker is asked for, and not the words. */
  readonly isWho: boolean;
}

/** Verbs of judging, and what tells a judgement. */
const JUDGING = /^(?:th(?:ink|ought)|feel|felt|complain)/u;
const JUDGES =
  /\b(?:think|thought|guess|reckon|feel|felt|found|find|lov(?:e|ed)|lik(?:e|ed)|hat(?:e|ed)|enjoy(?:ed)?|prefer(?:red)?|believe|bet|opinion|too|so|very|really|pretty|quite|super|great|good|bad|better|best|worse|worst|nice|awful|amazing|awesome|boring|brilliant|fantastic|terrible|lovely|beautiful|wonderful|risky|fun|funny|weird|sad|perfect|overrated|disappointing|worth|proud|inspiring)\b/iu;

/** A sentence of a turn as it is told of. */
interface Told {
  readonly text: string;
  /** The speakers that it says something of. */
  readonly about: readonly string[];
  /** It may be what the question asks of speech. */
  readonly isSpeech: boolean;
}

/** Passages whose turns are told. */
const told = new WeakMap<object, Telling>();

/** Returns how the turns of a passage are read; null when they stand as they were said. */
export const tellingOf = (payload: object): Telling | null => told.get(payload) ?? null;

const BY_ASKER = /\b(?:I|me|my|mine|we|us|our)\b/u;
const SPEECH =
  'sa(?:y|id)|t(?:ell|old)|mention(?:ed)?|suggest(?:ed)?|recommend(?:ed)?|advised?|proposed?|th(?:ink|ought)|feel|felt|offer(?:ed)?|promised?|warn(?:ed)?|invited?|complain(?:ed)?|admit(?:ted)?|announced?|explain(?:ed)?|reply|replied';
const WHO_SPOKE = new RegExp(`^who (?:first )?(${SPEECH})\\b(?! of)`, 'iu');
/** Asks for what an assistant said: `What did you recommend?`, `Which hotel did the assistant suggest?` */
const ASSISTANT_SPOKE = new RegExp(
  `^(?:what|which|where|who|how|when)\\b.*?\\b(?:did|do|does|have|has) (?:the (?:assistant|AI|chatbot|bot)|you|ChatGPT|Claude|Gemini|Copilot) (?:\\p{Ll}+ )?(${SPEECH})\\b`,
  'iu',
);
const SUGGESTING = /^(?:suggest|recommend|advise|propose|invite|offer)/u;
/** Says what somebody might do. */
const SUGGESTS =
  /\b(?:should|could|might|must|try|how about|what about|why (?:not|don['’]t)|let['’]?s|come|join|want to|fancy|have to|need to|would love|can (?:I|we)|I['’]ll|recommend|suggest|propose|advise|offer|invite|worth|if I were you|going to|we['’]re going|would be|you['’]d)\b/iu;

export type PassagePayload = Pick<RankedPassage, 'payload'>;

/**
 * Marks the passages of conversations so that their turns are read as told by others: `Nora adopted a dog` for `Nora: I adopted
 * a dog`. Others stay as they are, and all do when the question is asked by one of those who speak.
 */
export function tellTurns<Passage extends PassagePayload>(
  question: string,
  passages: readonly Passage[],
): readonly Passage[] {
  const verb = ASSISTANT_SPOKE.exec(question)?.[1];
  if (verb !== undefined) return tellAssistant(verb.toLowerCase(), passages);
  if (BY_ASKER.test(question)) return passages;
  const talks = passages.map(({ payload }) => namedSpeakers(payload.text));
  const speakers = [...new Set(talks.flat())];
  if (speakers.length === 0) return passages;
  const named = speakers.filter((speaker) => isNamed(speaker, question));
  const speech = speechIn(question, { speakers, named });
  const asked = named.length === 1 ? (named[0] ?? null) : null;
  return passages.map((passage, at) => {
    const own = talks[at] ?? [];
    if (own.length === 0 || isForeignText(passage.payload.text)) return passage;
    const payload: ChunkPayload = { ...passage.payload };
    told.set(payload, { speakers: own, speech, asked });
    return { ...passage, payload };
  });
}

/** Marks the passages of conversations with an assistant so that its turns are read as what it says. */
function tellAssistant<Passage extends PassagePayload>(verb: string, passages: readonly Passage[]): readonly Passage[] {
  return passages.map((passage) => {
    const turns = turnsOf(passage.payload.text);
    const speakers = [...new Set(turns.map(({ speaker }) => speaker))].filter((one) => roleOf(one) !== null);
    const by = speakers.filter((one) => roleOf(one) === 'assistant');
    if (by.length === 0 || !isConversation(turns) || isForeignText(passage.payload.text)) return passage;
    const payload: ChunkPayload = { ...passage.payload };
    told.set(payload, { speakers, speech: { verb, by, isWho: false }, asked: null });
    return { ...passage, payload };
  });
}

function namedSpeakers(text: string): readonly string[] {
  const turns = turnsOf(text);
  const isOne = turns.length === 1 && turns[0]?.start === 0;
  if (!isOne && !isConversation(turns)) return [];
  return [...new Set(turns.map(({ speaker }) => speaker))].filter((one) => roleOf(one) === null && NAME.test(one));
}

const NAME = /^\p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*){0,3}$/u;

const firstNameOf = (speaker: string): string => speaker.split(' ', 1)[0] ?? speaker;

function isNamed(speaker: string, text: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(firstNameOf(speaker))}(?![\\p{L}\\p{N}])`, 'iu').test(text);
}

function speechIn(
  question: string,
  { speakers, named }: { readonly speakers: readonly string[]; readonly named: readonly string[] },
): Speech | null {
  const who = WHO_SPOKE.exec(question.trim())?.[1];
  // Who told Ben is not Ben.
  if (who !== undefined)
    return { verb: who.toLowerCase(), by: speakers.filter((one) => !named.includes(one)), isWho: true };
  for (const speaker of named) {
    const pattern = `\\b(?:do|does|did) ${RegExp.escape(firstNameOf(speaker))}\\b(?: \\p{Lu}\\p{L}+)? (?:\\p{Ll}+ )?(${SPEECH})\\b`;
    const verb = new RegExp(pattern, 'iu').exec(question)?.[1];
    if (verb !== undefined) return { verb: verb.toLowerCase(), by: [speaker], isWho: false };
  }
  return null;
}

/** Words at the beginning of a message that say nothing. */
const OPENING =
  /^(?:(?:oh|ah|aww+|wow|well|ha(?:ha)+|ha|hey|hi|hello|lol|btw|by the way|also|so|and|but|guess what|omg|ooh|hmm+|thanks|yep|yeah|yup|nope|nah|ok(?:ay)?)\b[\s,!.…:)-]*)+/iu;
/** Names of speakers whose patterns are kept. */
const MAX_NAMES = 200;
const FIRST = /^(?:i|me|my|mine|myself|we|us|our|ours|ourselves|im|ive)$/iu;
const OWNER = /^(?:my|mine|our|ours|your|yours)$/iu;
const OBJECT = /^(?:me|us|myself|ourselves|yourself)$/iu;
/** Behind a `you` that is an object. */
const ENDS_CLAUSE = /^(?: (?:to|with|for|in|on|at|about|by|from|and|so|as|the|an?|some|any)\b|[.,!?:;)]|$)/u;
const PERSON =
  /(?<![\p{L}\p{N}'’@/])(I|we|you|u|me|us|my|our|your|mine|ours|yours|myself|ourselves|yourself|im|ive)(?:['’](m|re|ve|ll|d))?(?: (am|are|have|do|were)(?![\p{L}'’]))?(?![\p{L}\p{N}]|['’]\p{L}|\.\p{L})/giu;
const CONTRACTED: Readonly<Record<string, string>> = { m: 'is', re: 'is', ve: 'has', ll: 'will', d: 'would' };
const OF_OTHERS: Readonly<Record<string, string>> = { am: 'is', are: 'is', have: 'has', do: 'does', were: 'was' };
/** A statement whose subject is left out: `Tore something playing squash`, `Love it.` */
const WITHOUT_SUBJECT =
  /^(?:(?:just|already|finally|still|only|never|really) )?(?:(?!(?:need|feed|speed|red|bed|indeed|exhausted|tired|excited|interested|bored)\b)\p{L}{2,}ed|got|went|saw|had|was|met|took|tore|bought|made|lost|won|ate|gave|wrote|read|ran|quit|paid|built|found|sent|spoke|slept|broke|hurt|caught|came|been|love|loving|hate|miss|need|want|hope|can['’]t|couldn['’]t|didn['’]t|haven['’]t|going|working|moving|trying|thinking|planning|learning|taking|getting|having|doing)\b(?! (?:by|you))/iu;

/**
 * Tells what somebody says: `Nora’s dog` for `my dog`, and of the one whom the question names in the first person. Names by which
 * another one is addressed are left out.
 */
export function tellSentence(said: string, speaker: string, { speakers, speech, asked }: Telling): Told {
  const others = speakers.filter((one) => one !== speaker);
  const called = others.find((one) => addressOf(firstNameOf(one)).test(said));
  const addressee = called ?? (others.length === 1 ? (others[0] ?? null) : null);
  const about = new Set<string>();
  const bare = others
    .reduce((text, one) => text.replace(addressOf(firstNameOf(one)), ''), said)
    .replace(/^[\s,!.]+/u, '')
    .replace(OPENING, (opening) => (opening.length === said.length ? opening : ''));
  const isOpen = WITHOUT_SUBJECT.test(bare);
  if (isOpen) about.add(speaker);
  const named =
    asked === null || asked === speaker
      ? bare
      : bare.replace(nameOf(firstNameOf(asked)), (_, owner) => {
          about.add(asked);
          return owner === undefined ? 'I' : 'my';
        });
  const text = named.replace(PERSON, (written, word: string, contraction?: string, auxiliary?: string, at = 0) => {
    const isFirst = FIRST.test(word);
    const person = isFirst ? speaker : addressee;
    if (person === null || word === 'US') return written;
    about.add(person);
    if (person === asked) {
      const isObject =
        at > 0 &&
        auxiliary === undefined &&
        /^(?:you|u)$/iu.test(word) &&
        ENDS_CLAUSE.test(named.slice(at + written.length));
      return isFirst ? written : isObject ? 'me' : inFirst(word, contraction, auxiliary);
    }
    return inThird(person, word, contraction, auxiliary);
  });
  const subject = speaker === asked ? 'I' : speaker;
  const verb = speech?.by.includes(speaker) === true && isOfKind(speech.verb, said) ? speech.verb : null;
  const lead = verb === null ? '' : `${subject} ${verb}: `;
  return { text: `${lead}${isOpen ? `${subject} ` : ''}${text}`, about: [...about], isSpeech: verb !== null };
}

function isOfKind(verb: string, said: string): boolean {
  return SUGGESTING.test(verb) ? SUGGESTS.test(said) : !JUDGING.test(verb) || JUDGES.test(said);
}

function inThird(person: string, word: string, contraction: string | undefined, auxiliary: string | undefined): string {
  const is = /^im$/iu.test(word) ? ' is' : /^ive$/iu.test(word) ? ' has' : '';
  const behind = contraction === undefined ? is : ` ${CONTRACTED[contraction.toLowerCase()]}`;
  const next = auxiliary === undefined ? '' : ` ${OF_OTHERS[auxiliary.toLowerCase()]}`;
  return `${person}${OWNER.test(word) ? '’s' : ''}${behind}${next}`;
}

function inFirst(word: string, contraction: string | undefined, auxiliary: string | undefined): string {
  const self = OWNER.test(word) ? 'my' : OBJECT.test(word) ? 'me' : 'I';
  const behind = contraction === undefined ? '' : `’${contraction.toLowerCase() === 're' ? 'm' : contraction}`;
  const next = auxiliary === undefined ? '' : ` ${/^are$/iu.test(auxiliary) ? 'am' : auxiliary}`;
  return `${self}${behind}${next}`;
}

/** A name, also of an owner. */
const nameOf = keptByText(
  MAX_NAMES,
  (name): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(name)}(['’]s)?(?![\\p{L}\\p{N}])`, 'giu'),
);

/** Says a question about one of those who speak as that one would ask it: `When did I adopt a dog?` */
export function askedBySpeaker(question: string, passages: readonly PassagePayload[]): string {
  const asked = passages.map(({ payload }) => tellingOf(payload)?.asked).find((one) => one != null);
  if (asked === undefined) return question;
  const name = RegExp.escape(asked);
  const first = RegExp.escape(firstNameOf(asked));
  const forms: readonly (readonly [string, string])[] = [
    ["the (\\p{Ll}+) of NAME(?!['’]s)", 'my $1'],
    ["does NAME(?!['’]s)", 'do I'],
    ["has NAME(?!['’]s)", 'have I'],
    ["is NAME(?!['’]s)", 'am I'],
    ["NAME['’]s?", 'my'],
    [
      '(?<=\\b(?:for|with|to|from|by|of|at|gave|give|told|tell|taught|teach|helped|help|asked|ask|sent|send) )NAME',
      'me',
    ],
    ['(?:her|his)(?= (?!(?:own|to|for|in|at|on|with)\\b)\\p{Ll})', 'my'],
    ['NAME is', 'I am'],
    ['NAME has', 'I have'],
    ['NAME', 'I'],
  ];
  return forms.reduce((text, [form, other]) => {
    const pattern = form.replace('NAME', `(?:${name}|${first})(?![\\p{L}\\p{N}])`);
    return text.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${pattern}`, 'giu'), other);
  }, question);
}

/** `Ben, …`, `…, Ben!`, `Thanks Ben.` */
const addressOf = keptByText(
  MAX_NAMES,
  (name): RegExp =>
    new RegExp(
      `^${RegExp.escape(name)}[,!:…] ?|(?:,|(?<=^(?:hey|hi|hello|thanks|thank you|sorry|congrats|congratulations|wow|oh|yes|no|morning|proud of you|dear))) ${RegExp.escape(name)}(?=[!.,?…]|$)`,
      'iu',
    ),
);

const SHE = 'mother mum mom mummy grandmother grandma granny nan sister daughter aunt niece wife girlfriend fiancée';
const HE = 'father dad daddy grandfather grandpa brother son uncle nephew husband boyfriend fiancé';
const EITHER =
  'boss manager neighbour neighbor friend flatmate roommate housemate colleague coworker teacher coach doctor landlord partner cousin therapist tutor';
const KIN = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)|(?!(?:How|What|Where|Who|That|There|Here|It|Let)\\b)\\p{Lu}\\p{L}+['’]s) (?:\\p{Ll}+ )?(${[SHE, HE, EITHER].join(' ').replaceAll(' ', '|')})(?![\\p{L}-]|['’]s \\p{Ll}+ (?:is|was|has|had|who)\\b)(?: \\p{Lu}\\p{L}+)?`,
  'gu',
);
const PRONOUN = /^(?:(she|her)|he|his)(?=['’ ])/iu;
/** `I visit her every Sunday`, and not `her dog`. */
const PRONOUN_OBJECT =
  /(?<=\p{L} )(her|him)(?=[.,!?;]|$| (?:to|with|for|in|on|at|about|by|from|and|so|as|the|an?|my|your|our|some|every|each|last|next|this|yesterday|today|tomorrow|when|if|because|once|twice|again|there)\b)/u;
const OWNED = /^(?:her|his) \p{Ll}/iu;
/** Statements after which a pronoun no longer means a person. */
const MEANT_WITHIN = 6;

/** Returns what says whom `she` or `he` at the beginning of a told sentence means: a relative or the like of whom was spoken before. */
export function pronounReader(): (text: string, at: number) => string {
  let last: { readonly person: string; readonly isSheOrHe: readonly boolean[]; readonly at: number }[] = [];
  return (text, at) => {
    const [pronoun, isShe] = PRONOUN.exec(text) ?? [];
    const gender = isShe === undefined ? 1 : 0;
    const meant = pronoun === undefined ? undefined : last.findLast((one) => one.isSheOrHe[gender]);
    const isNear = meant !== undefined && at - meant.at <= MEANT_WITHIN;
    let said = isNear ? `${meant.person}${OWNED.test(text) ? '’s' : ''}${text.slice(pronoun?.length)}` : text;
    const object = PRONOUN_OBJECT.exec(said);
    const other = last.findLast((one) => one.isSheOrHe[object?.[1] === 'her' ? 0 : 1] && at - one.at <= MEANT_WITHIN);
    if (object !== null && other !== undefined)
      said = `${said.slice(0, object.index)}${other.person}${said.slice(object.index + 3)}`;
    for (const [person, role = ''] of said.matchAll(KIN)) {
      const isOf = (words: string) => words.split(' ').includes(role.toLowerCase());
      last = [...last.slice(-4), { person, isSheOrHe: [!isOf(HE), !isOf(SHE)], at }];
    }
    return said;
  };
}
