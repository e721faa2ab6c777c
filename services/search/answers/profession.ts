import { wordSenses } from '../../common/text/words/word-senses.ts';
import { kindOf } from '../retrieval/word-likeness.ts';

const ASKS_PROFESSION =
  /^what (?:(?:is|was|are|were) (?:the )?(?:job|profession|occupation|trade) of (.+?)|(?:is|was|are|were|['’]s) (.+?) (?:current |present |main )?(?:job|profession|occupation|trade|line of work)|(?:do|does|did) (.+?) (?:do (?:for a living|for work|professionally)|work as)) *\??$/iu;

interface ProfessionAsked {
  /** `my mother`, `Ana`, `I`. */
  readonly whose: string;
  readonly isPast: boolean;
}

/** Whose profession a question asks for; null for another question. */
export function professionAsked(question: string): ProfessionAsked | null {
  const text = question.trim();
  const [, ...found] = ASKS_PROFESSION.exec(text) ?? [];
  const whose = found.find((one) => one !== undefined);
  if (whose === undefined) return null;
  const isPast = /^what (?:was|were|did)\b/iu.test(text);
  const name = whose.replace(/['’]s?$/u, '');
  return { whose: /^(?:my|mine|I|(?:the )?user)$/iu.test(name) ? 'I' : name, isPast };
}

const PHRASE = "((?:\\p{L}[\\p{L}'’-]* ){0,3}?\\p{L}[\\p{L}-]*)";
const END =
  '(?=$|[.,;:!?()]| (?:at|in|for|with|on|of|and|but|who|which|that|from|since|by|to|near|now|again|because|so|until|when|where|while|specializing|specialising) ?)';
const OWN = "(?:I|[Tt]he user|User)(?!['’]s )";
/** Minimum certainty that a word calls a profession. */
const MIN_PROFESSION = 0.3;

/**
 * Returns what reads from a sentence which profession somebody has, or had if that is asked for: `data engineer` of `Ana works at
 * Norvik as a data engineer`; it returns null when a sentence says none of that person.
 */
export function professionReader({ whose, isPast }: ProfessionAsked): (sentence: string) => string | null {
  const who = whose === 'I' ? OWN : named(whose);
  const start = `${who}(?:,? who)?`;
  const [work, be] = isPast
    ? ['(?:had |used to )?(?:been )?work(?:ed|ing)?', ' was| used to be| became| trained as| had been']
    : [
        '(?:have |has )?(?:been )?(?:works?|working)',
        "['’]m| am| is|['’]s| became| become| trained as| have been| has been|, (?:is )?",
      ];
  const works = new RegExp(
    `${start} (?:now |still |currently |also )?${work}(?: [^.;,]{0,60}?)? as (?:an? |the )?${PHRASE}${END}`,
    'u',
  );
  const is = new RegExp(`${start}(?:${be})(?: now| still| currently| also)? ?(?:an? |the )${PHRASE}${END}`, 'u');
  const married = marriedTo(whose);
  return (sentence) => {
    const working = works.exec(sentence)?.[1];
    if (working !== undefined) return working;
    const being = is.exec(sentence)?.[1] ?? married?.exec(sentence)?.[1];
    return being !== undefined && isProfession(being) ? being : null;
  };
}

/** `my brother Tom` is Tom, and `Tom` may have a surname. */
function named(whose: string): string {
  const owner = "(?:[Mm]y|(?:[Tt]he user|User)['’]s)";
  const name = /^my /iu.test(whose) ? `${owner} ${RegExp.escape(whose.slice(3))}` : RegExp.escape(whose);
  return `(?:(?<=(?:[Mm]y|['’]s) \\p{Ll}+ )|(?<![\\p{L}’'-]))${name}(?: \\p{Lu}[\\p{L}’'-]+)?`;
}

/** Finds `Portuguese chef` in `My sister Bethan married a Portuguese chef` for Bethan's husband; null for who is nobody's. */
function marriedTo(whose: string): RegExp | null {
  const other = /^(.+?)['’]s (?:husband|wife|spouse|partner)$/iu.exec(whose)?.[1];
  if (other === undefined) return null;
  return new RegExp(`${named(other)} (?:got |is |was )?(?:married|wed)(?: to)? an? ${PHRASE}${END}`, 'u');
}

/** Whether the last noun of a phrase calls a profession: `paediatric nurse`, not `close friend`. */
function isProfession(phrase: string): boolean {
  const ofKind = kindOf('profession');
  const head = phrase.toLowerCase().split(' ').at(-1) ?? '';
  return ofKind !== null && ofKind(wordSenses().row(head)) >= MIN_PROFESSION;
}
