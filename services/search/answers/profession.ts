import { wordSenses } from '../../common/text/words/word-senses.ts';
import { kindOf } from '../retrieval/word-likeness.ts';
import { personPattern } from './person-pattern.ts';
import { calledLike } from './relative-names.ts';

/** What a question asks of somebody's work: the profession, for whom or where, or what somebody is trained for. */
type Asked = 'profession' | 'workplace' | 'training';

export interface WorkAsked {
  readonly of: Asked;
  /** `my mother`, `Ana`, `I`. */
  readonly whose: string;
  readonly isPast: boolean;
  /** `hospital` of "Which hospital do I work at?" */
  readonly kind?: string;
  /** It asks where somebody teaches. */
  readonly isTaught?: true;
}

const JOB = '(?:job|profession|occupation|trade|line of work)';
const DOES = '(?:do|does|did)';
const IS = "(?:is|was|are|were|am|['’]s)";
const RELATED = "(?:my|our|[^?]{1,40}['’]s) (?:\\p{Ll}+ )?\\p{Ll}+";
const QUESTIONS: readonly (readonly [Asked, RegExp])[] = (
  [
    ['profession', `what ${IS} (?:the )?(?:job|profession|occupation|trade) of (.+?)`],
    ['profession', `what ${IS} (.+?) (?:current |present |main )?${JOB}`],
    ['profession', `what ${DOES} (.+?) (?:do (?:for (?:a living|work|a job|money)|professionally|as a job)|work as)`],
    ['profession', `(?:what (?:kind|sort|type) of (?:work|job)|which (?:work|job)) ${DOES} (.+?) (?:do|have)`],
    ['profession', `how ${DOES} (.+?) (?:earn|make) (?:a|my|our|his|her|their) (?:living|money)`],
    ['profession', `what (?:line of (?:work|business) )?${IS} (.+?) (?:in for a living|by (?:profession|trade))`],
    ['profession', `what line of (?:work|business) ${IS} (.+?) in`],
    ['training', `what ${IS} (.+?) (?:re)?-?(?:training|learning|studying) (?:as|to (?:be|become))`],
    ['workplace', `where ${DOES} (.+?) work`],
    ['workplace', `where ${IS} (.+?) employed`],
    ['workplace', `whom? ${DOES} (.+?) work for`],
  ] as const
).map(
  ([of, form]) =>
    [
      of,
      new RegExp(
        `^${form}(?: now| these days| currently| at the moment| before| previously| earlier| in the past| back then)? *\\??$`,
        'iu',
      ),
    ] as const,
);
/** `What does my sister do?`, of persons whom a text calls by what they are to somebody. */
const BARE = new RegExp(`^what (?:do|does) (${RELATED}) do *\\??$`, 'iu');
const WHICH_PLACE = new RegExp(
  `^(?:(?:at|for|in) )?(?:which|what) (?:\\p{Ll}+ ){0,2}?(?<kind>(?!days?|hours?|time|months?|years?)\\p{Ll}+) ${DOES} (?<whose>.+?) (?<verb>work|teach)(?: (?:at|for|in|with))? *\\??$`,
  'iu',
);

/** What a question asks of whose work; null for another question. */
export function workAsked(question: string): WorkAsked | null {
  const text = question.trim();
  const isPast = /^\p{L}+ (?:[^?]{1,40}? )?(?:was|were|did)\b/iu.test(text);
  const asked = (of: Asked, whose: string): WorkAsked => {
    const name = whose.replace(/['’]s?$/u, '');
    return { of, whose: /^(?:my|mine|I|(?:the )?user)$/iu.test(name) ? 'I' : name, isPast };
  };
  for (const [of, form] of QUESTIONS) {
    const whose = form.exec(text)?.[1];
    if (whose !== undefined) return asked(of, whose);
  }
  const related = BARE.exec(text)?.[1];
  if (related !== undefined && calledLike(related.split(' ').at(-1) ?? '').length > 0)
    return asked('profession', related);
  const { kind, whose, verb } = WHICH_PLACE.exec(text)?.groups ?? {};
  return kind === undefined || whose === undefined
    ? null
    : {
        ...asked('workplace', whose),
        kind: kind.toLowerCase(),
        ...(verb === 'teach' && { isTaught: true }),
      };
}

/** Says a question for one's own profession in the words by which notes of one's work are found; null for another question. */
export function ownProfession(question: string): string | null {
  const asked = workAsked(question);
  return asked?.of === 'profession' && asked.whose === 'I'
    ? `What ${asked.isPast ? 'was' : 'is'} my profession?`
    : null;
}

const PHRASE = "((?:\\p{L}[\\p{L}'’-]* ){0,3}?\\p{L}[\\p{L}-]*)";
const END =
  '(?=$|[.,;:!?()]| (?:at|in|for|with|on|of|and|but|who|which|that|from|since|by|to|near|now|again|because|so|until|when|where|while|specializing|specialising) ?)';
const STILL = '(?:(?:now|still|currently|also|mostly|only) )?';
/** Minimum certainty that a word calls a profession, and a shop. */
const MIN_KIND = { profession: 0.3, shop: 0.5 } as const;
const BUSINESS =
  /\b(?:business|company|firm|start-?up|farm|caf[eé]|restaurant|pub|bar|studio|gallery|practice|clinic|surgery|school|nursery|hotel|hostel|guesthouse|b&b|agency|garage|stall|vineyard|workshop|brewery|consultancy)$/iu;
/** What a place of work ends before. */
const PLACE_END =
  '(?=[.,;:!?()]|$| (?:as|and|but|since|because|so|where|which|who|on|from|every|for|until|while|near|now|these|with|three|four|five|part|full)\\b)';
const PLACE = `((?:[^\\s,;:!?()]+ ){0,7}?[^\\s,;:!?()]*[^\\s.,;:!?()])${PLACE_END}`;
const AT = '(?:at|for|in (?=(?:an?|the|my|our|his|her|their)\\b)) ?';
/** Where people are for nothing but work. */
const OFFICE =
  '(?:office|authority|ministry|agency|council|archive|department|factory|firm|company|newspaper|publisher|lab|laboratory|plant)';
const NO_PLACE =
  /^(?:\d|nights?|day|home|weekends?|work|the (?:moment|morning|evening|afternoon|weekend|summer|winter|same|first|last|past)|present|all|noon|least|over|about|almost|nearly|many|several|some|two|ten|(?:an?|one) (?:hours?|days?|weeks?|months?|years?|while|few|bit|living)|now|him|her|them|me|us|free)\b/iu;

/** What is said of somebody's work; `rank`: 0 for a named profession, more for what says it less plainly. */
export interface WorkSaid {
  readonly said: string;
  readonly rank: number;
}

/**
 * Returns what reads from a sentence what a question asks of somebody's work, `data engineer` or `Norvik` of `Ana works at Norvik
 * as a data engineer`; it returns null when a sentence says none of that person.
 */
export function workReader(asked: WorkAsked): (sentence: string) => WorkSaid | null {
  const who = personPattern(asked.whose);
  // `My brother Nils does that, he works for …`
  const back = asked.whose === 'I' ? '' : '|[^.;!?\\p{Lu}]{0,60}?(?:[,;] (?:and )?| where )(?:he|she|they)';
  const start = `${who}(?:,? who(?=[ '’])${back})?`;
  const married = marriedTo(asked.whose);
  const read =
    asked.of === 'profession'
      ? professionOf(start, asked.isPast)
      : asked.of === 'workplace'
        ? placeOf(start, asked)
        : trainingOf(start);
  const key = asked.whose === 'I' && asked.of === 'profession' ? KEY : null;
  return (sentence) => {
    const spouse = asked.of === 'profession' ? married?.exec(sentence)?.[1] : undefined;
    if (spouse !== undefined && isOf('profession', spouse)) return { said: spouse, rank: 0 };
    const value = key?.exec(sentence)?.[1];
    return value === undefined ? read(sentence) : { said: value, rank: 0 };
  };
}

/** `Occupation: nurse` among notes of a user. */
const KEY =
  /^(?:[-*•] )?\*{0,2}(?:Job|Job title|Profession|Occupation)\*{0,2}: ?\*{0,2} *([^.;,(]{3,60}?) *(?=$|[.;,(])/u;

const ASKS_OF_WORK =
  /\b(?:what do you do(?: for (?:a living|work))?|(?:still|now) work(?:ing)?\b|your (?:new |current )?(?:job|work|profession)|work as)\b[^?]{0,60}\?/iu;
const REPLIES =
  /^(?:(?:Yes|No|Yep|Nope|Yeah|Well)\b[,.!]? )?I(?:['’]m| am)? (?:now |still |currently |mostly )?((?!(?:am|was|have|had|do|did|don['’]t|didn['’]t|can|could|will|would|think|know|guess|love|hate|like|quit|left|got|want|wish)\b)\p{Ll}+ [^.;,!?]{3,50}?)(?: now)?(?=[.;,!?]|$)/u;

/** Returns what somebody does by the reply to a question about work: `restore old maps` of `Are you still working? Yes, I restore old maps`. */
export function workInReply(asked: string, said: string): WorkSaid | null {
  const work = ASKS_OF_WORK.test(asked) ? REPLIES.exec(said)?.[1] : undefined;
  return work === undefined ? null : { said: work, rank: 1 };
}

/** Reads a profession of whoever a sentence tells: `teacher` of `Ada was a teacher`. */
export function professionIn(sentence: string): string | null {
  const [now, before] = ANYBODY;
  return now(sentence)?.said ?? before(sentence)?.said ?? null;
}

function verbsOf(isPast: boolean): { readonly work: string; readonly be: string } {
  return isPast
    ? {
        work: '(?:had |used to )?(?:been )?(?:work(?:ed|ing)?|earn(?:ed)?|employed)',
        be: ' was| used to be| became| trained as| had been',
      }
    : {
        work: '(?:have |has |am |is )?(?:been )?(?:works?|working|earns?|employed|(?:has|have) a job|makes? (?:a|my|his|her|their) living)',
        be: "['’]m| am| is|['’]s| became| become| trained as| have been| has been|, (?:is )?",
      };
}

function professionOf(start: string, isPast: boolean): (sentence: string) => WorkSaid | null {
  const { work, be } = verbsOf(isPast);
  const works = new RegExp(`${start} ${STILL}${work}(?: [^.;,]{0,60}?)? as (?:an? |the )?${PHRASE}${END}`, 'u');
  const is = new RegExp(`${start}(?:${be})(?: now| still| currently| also)? ?(?:an? |the )${PHRASE}${END}`, 'u');
  const [teach, sell, run] = isPast
    ? ['taught', 'sold', '(?:ran|owned)']
    : ['teach(?:es)?', 'sells?', '(?:runs?|owns?)'];
  const does = new RegExp(
    `${start} ${STILL}(${teach} (?!me\\b|us\\b|him\\b|her\\b|them\\b|you\\b|how\\b|my\\b)${PHRASE}|${isPast ? '(?!)' : ''}${sell} (?!(?:my|his|her|their|our|the)\\b)${PHRASE})${END}`,
    'u',
  );
  const drives = new RegExp(
    `${start}(?:['’]m| am| is|['’]s)?(?: still| now| currently)? (${isPast ? 'drove' : 'driv(?:es?|ing)'} (?:an?|the) (?:\\p{Ll}+ )?(?:bus|tram|taxi|cab|lorry|truck|train|van|ambulance|tractor|forklift))${END}`,
    'u',
  );
  const runs = new RegExp(`${start} ${STILL}(${run} (?:an?|the|my own|his own|her own) ${PHRASE})${END}`, 'u');
  const within = new RegExp(`${start} ${STILL}(${work} (?:at|for|in) (?!a |the |our |my )${PLACE})`, 'u');
  return (sentence) => {
    const working = works.exec(sentence)?.[1];
    if (working !== undefined) return { said: working, rank: 0 };
    const being = is.exec(sentence)?.[1];
    if (being !== undefined && isOf('profession', being)) return { said: being, rank: 0 };
    const doing = does.exec(sentence)?.[1] ?? drives.exec(sentence)?.[1];
    if (doing !== undefined) return { said: doing, rank: 1 };
    const [, running, business = ''] = runs.exec(sentence) ?? [];
    if (running !== undefined && (BUSINESS.test(business) || isOf('shop', business))) return { said: running, rank: 1 };
    const [, employed, place = ''] = within.exec(sentence) ?? [];
    return employed === undefined || NO_PLACE.test(place) ? null : { said: employed, rank: 2 };
  };
}

const ANYBODY = [professionOf('', false), professionOf('', true)] as const;

function placeOf(start: string, { isPast, kind, isTaught }: WorkAsked): (sentence: string) => WorkSaid | null {
  const { work, be } = verbsOf(isPast);
  const teach = isPast ? 'taught' : '(?:teach|teaches|practises?|practices?|lectures?)';
  const works = new RegExp(
    `${start} ${STILL}(?:${isTaught === true ? teach : `${work}|${teach}`})(?: [^.;,]{0,80}?)?? ${AT}${PLACE}`,
    'u',
  );
  const is = new RegExp(
    `${start}(?:${be})(?: now| still| currently| also)? ?(?:an? |the )${PHRASE} ${AT}${PLACE}`,
    'u',
  );
  const stays = new RegExp(
    `${start}(?:${be})(?: still| now| back)? (?:at|with) (the (?:\\p{L}+ ){0,3}?${OFFICE})(?!\\p{L})`,
    'u',
  );
  const clean = (place: string) =>
    (kind !== undefined ? place.replace(/ in \p{Lu}.*$/u, '') : place).replace(/^the /u, '');
  return (sentence) => {
    const place = works.exec(sentence)?.[1];
    if (place !== undefined && !NO_PLACE.test(place)) return { said: clean(place), rank: 0 };
    const office = stays.exec(sentence)?.[1];
    if (office !== undefined) return { said: clean(office), rank: 1 };
    const [, profession = '', employer] = is.exec(sentence) ?? [];
    const isWork =
      employer !== undefined && isTaught !== true && isOf('profession', profession) && !NO_PLACE.test(employer);
    return isWork ? { said: clean(employer), rank: 0 } : null;
  };
}

function trainingOf(start: string): (sentence: string) => WorkSaid | null {
  const trains = new RegExp(
    `${start}[^.;]{0,40}? (?:(?:re)?train(?:s|ing)?(?: [^.;,]{0,30}?)?? (?:as|to (?:be|become))|(?:studying|learning) to (?:be|become)) (?:an? |the )?${PHRASE}${END}`,
    'u',
  );
  return (sentence) => {
    const said = trains.exec(sentence)?.[1];
    return said === undefined ? null : { said, rank: 0 };
  };
}

/** Finds `Portuguese chef` in `My sister Bethan married a Portuguese chef` for Bethan's husband; null for who is nobody's. */
function marriedTo(whose: string): RegExp | null {
  const other = /^(.+?)['’]s (?:husband|wife|spouse|partner)$/iu.exec(whose)?.[1];
  if (other === undefined) return null;
  return new RegExp(`${personPattern(other)} (?:got |is |was )?(?:married|wed)(?: to)? an? ${PHRASE}${END}`, 'u');
}

/** Endings of words that call what somebody works as, where dictionaries do not have the word: `dental hygienist`. */
const WORKER =
  /(?:worker|officer|assistant|manager|designer|developer|consultant|analyst|technician|researcher|engineer|instructor|inspector|operator|practitioner|keeper|smith|(?<!optim|pessim|fatal|rac|sex|ide(?:al)?|extrem|femin|egot|tour|cycl)ist)$/iu;

/** Whether the last noun of a phrase is of a kind: `paediatric nurse`, not `close friend`. */
const PRAISE =
  /^(?:an? )?(?:very |really |such )?(?:good|great|bad|terrible|excellent|brilliant|wonderful|fantastic|keen|passionate|big|huge|lousy|decent|avid|born|heavy|light|fast|slow|picky|early) /iu;

function isOf(kind: keyof typeof MIN_KIND, phrase: string): boolean {
  const ofKind = kindOf(kind);
  const head = phrase.toLowerCase().split(' ').at(-1) ?? '';
  // `My wife is a great cook.`
  if (kind === 'profession' && PRAISE.test(phrase)) return false;
  if (kind === 'profession' && WORKER.test(head)) return true;
  return ofKind !== null && ofKind(wordSenses().row(head)) >= MIN_KIND[kind];
}
