import { wordSenses } from '../../common/text/words/word-senses.ts';
import { ownProfession } from './profession.ts';

/** Attributes with a value of their own, asked for without a verb: `Name of the landlord?` */
const ATTRIBUTE_OF =
  /^(?:(?:the|my|our) )?(?:(?:first|last|full|exact) )?(?:names?|surname|age|birthday|birthplace|nationality|profession|occupation|job|breed|colou?r|brand|make|title|price|cost|salary|rent|address|(?:phone )?number|weight|height|size|date) (?:of|for) [^?]{2,200}\?$/iu;
const QUESTION_WORDS = 'what|which|who|whom|whose|when|where|why|how';
const QUESTION_WORD = new RegExp(`\\b(?:${QUESTION_WORDS})\\b`, 'iu');

/** `Who is my employer?`, `Who is the employer of Ana?` */
const EMPLOYER =
  /^(?:who|what)(?: is|['’]s) (?:the employer of (.{2,80}?)|(my|.{2,80}?(?=['’]s))(?:['’]s)? employer)\?$/iu;

/** What people say before a question that asks nothing: `Hey, …`, `Remind me, …`, `Do you remember …` */
const LEAD_IN = new RegExp(
  `^(?:(?:hey|hi|hello|ok|okay|well|so|and|but|oh|um|hmm|sorry|please|remind me|I forget|I forgot|quick question|just wondering|I wonder|tell me|(?:(?:can|could|would) you )?(?:please )?(?:tell|remind) me(?: please)?|(?:do|would) you (?:happen to |still )?(?:know|remember|recall))(?:[,:;.!–—]| -)*\\s+)+(?=(?:(?:at|by|for|from|in|on|to|with|of) )?(?:${QUESTION_WORDS})\\b)`,
  'iu',
);
/** The same behind a question. */
const TAG =
  /,? (?:(?:do|can) you (?:happen to |still )?(?:know|remember|recall|tell me)|please|by any chance|remind me|if you know)\s*\?*$/iu;
const SUBJECT = '(?=(?:I|we|you|he|she|it|they|my|our|his|her|their|the|that|this|those|these|an?)\\b)';
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/^(what|who|where)['’]s (?=(?:my|our) )/giu, '$1 is '],
  [new RegExp(`\\b(${QUESTION_WORDS})['’]ve (?=\\p{L})`, 'giu'), '$1 have '],
  [new RegExp(`\\b(${QUESTION_WORDS})['’]re (?=\\p{L})`, 'giu'), '$1 are '],
  [new RegExp(`\\b(${QUESTION_WORDS})['’]ll (?=\\p{L})`, 'giu'), '$1 will '],
  [new RegExp(`\\b(${QUESTION_WORDS})['’]d ${SUBJECT}`, 'giu'), '$1 did '],
];

/**
 * Says a question without what people say around it, its contractions in full, and one for an attribute that has no verb as a
 * whole one: `What is the name of the landlord?` for `Name of the landlord?`
 */
export function plainQuestion(text: string): string {
  const bare = text.trim().replace(LEAD_IN, '');
  const untagged = QUESTION_WORD.test(bare) && TAG.test(bare) ? bare.replace(TAG, '?') : bare;
  const full = CONTRACTIONS.reduce((said, [form, other]) => said.replace(form, other), untagged);
  const said = inPlainVerbs(full);
  if (said !== full) return said.charAt(0).toUpperCase() + said.slice(1);
  if (ATTRIBUTE_OF.test(full) && !QUESTION_WORD.test(full)) {
    const rest = full.replace(/^(?:the|my|our) /iu, '');
    return `What is the ${rest.charAt(0).toLowerCase()}${rest.slice(1)}`;
  }
  // Notes of somebody's own say neither `job` nor `living`, and no name by which to find them.
  const profession = ownProfession(full);
  if (profession !== null) return profession;
  const [, employed, employee = employed] = EMPLOYER.exec(full) ?? [];
  if (employee !== undefined) return /^my$/iu.test(employee) ? 'Where do I work?' : `Where does ${employee} work?`;
  return full === text.trim() ? text : full.charAt(0).toUpperCase() + full.slice(1);
}

/** `end up buying` for `buy`, which is what was bought. */
const ENDED_UP = /\b(did|do|does) (.{1,60}?) (?:end up|wind up) (?:on )?(\p{Ll}{2,})ing\b/iu;
/** `Which medicine am I on?` asks what is taken. */
const ON_MEDICINE =
  /^(what|which) ((?:kinds? of )?(?:medicines?|medications?|meds|drugs?|tablets?|pills?|antibiotics?|antidepressants?|painkillers?|supplements?)) (am|is|are|was|were) (.{1,60}?) on(?: (?:now|at the moment|currently))?\?*$/iu;
const TAKES: Readonly<Record<string, string>> = { am: 'do', are: 'do', is: 'does', was: 'did', were: 'did' };

/** Says with one verb what is asked with several words. */
function inPlainVerbs(question: string): string {
  return question
    .replace(ENDED_UP, (all: string, auxiliary: string, subject: string, stem: string) => {
      const verb = baseOf(stem.toLowerCase());
      return verb === null ? all : `${auxiliary} ${subject} ${verb}`;
    })
    .replace(ON_MEDICINE, (_, which: string, kind: string, is: string, subject: string) => {
      return `${which} ${kind} ${TAKES[is.toLowerCase()] ?? 'do'} ${subject} take?`;
    });
}

/** The verb of a form without its `-ing`: `buy`, `choose`, `get`; null without one. */
function baseOf(stem: string): string | null {
  const single = /(?<last>[^aeiou])\k<last>$/u.test(stem) ? stem.slice(0, -1) : null;
  const isVerb = (word: string) => wordSenses().partsOf(wordSenses().row(word)).verb > 0;
  return [stem, `${stem}e`, single].find((word) => word !== null && isVerb(word)) ?? null;
}
