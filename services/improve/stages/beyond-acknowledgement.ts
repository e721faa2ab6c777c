import { sentences } from '../../common/text/language/sentences.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { newParts } from '../../common/text/repetition/new-parts.ts';

/** Longer answers are not checked. */
const MAX_LENGTH = 4000;

const FOR_WHAT =
  '(?: for (?:(?:letting me know|telling me|sharing|clarifying|confirming|the (?:update|information|info|correction|clarification|reminder|heads[- ]up|context|details?))(?: (?:that|this|it|about that))?|that|this|it))?';
const MUCH = '(?: (?:so much|very much|a lot|again))?';
const WORD =
  "(?:ok|okay|sure(?: thing)?|got it|gotcha|understood|noted|duly noted|acknowledged|alright|all right|right|great|perfect|nice|good|wonderful|excellent|thanks|thank you|of course|certainly|absolutely|definitely|will do|roger(?: that)?|good to know|makes sense|i see|i understand|no problem|done|yes|you(?:[’']re| are) (?:very )?welcome)";
/** Words that begin an acknowledgement, up to its end or a pause. */
const OPENER = new RegExp(`^${WORD}${MUCH}${FOR_WHAT}\\s*(?:[,.!;:…—–-]+\\s*|$)`, 'iu');
const NOW =
  '(?:now |also |just |always |certainly |definitely |gladly |of course |already |be sure to |make sure to |make sure i |try to )*';
/** `I’ll remember that …`, `I have noted …`, `Noted that …`: an act of the speaker, no fact. */
const PROMISE = new RegExp(
  `^(?:(?:and |so |then )?(?:i|we)(?:[’']ll|[’']ve|[’']m going to| will| shall| have| am going to)? ${NOW})?` +
    '(?:remember(?:ed)?|note[ds]?(?: down)?|keep|kept|bear|store[ds]?|save[ds]?|record(?:ed)?|update[ds]?|add(?:ed)?|log(?:ged)?|ma[kd]e (?:a |sure|that |the )|take (?:a |that )|took (?:a |that )|taken (?:a |that ))\\b',
  'iu',
);
const COURTESY =
  /^(?:(?:please |just )?(?:let me know|feel free|don[’']t hesitate)\b|(?:is there )?anything else\b|(?:i[’']m |i am )?(?:always )?(?:happy|glad|here) to (?:help|assist)\b|how (?:else )?(?:can|may) i (?:help|assist)\b)/iu;

/** Stems of words about remembering and offers of help. */
const OWN_WORDS = new Set(
  (
    'remember memory note noted keep kept bear mind store save record update add log make made sure take took taken file ' +
    'profile future later next time conversation chat session reference preference information detail fact forward onward ' +
    'accordingly let know feel free hesitate need help assist anything else question change happy glad welcome thank please ' +
    'ask reach use reply answer respond response forget go'
  )
    .split(' ')
    .map(stemOf),
);
const NEGATION = /\b(?:not|never|no|none|without|cannot|nobody|nothing|neither|nor)\b|n[’']t\b/iu;

/**
 * Returns the answer without acknowledgements of the question; null when nothing else is left. A sentence is an acknowledgement
 * only when it begins like one and all its words are in the question or about remembering, so a sentence with any other content
 * stays, and so does one that the next sentence refers to.
 */
export function beyondAcknowledgement(question: string, answer: string): string | null {
  if (answer.length > MAX_LENGTH) return answer;
  const said = wordsOf(question, true);
  const isNegated = NEGATION.test(question);
  const read = sentences(answer).map((sentence) => ({
    ...sentence,
    isEcho: isAcknowledgement(sentence.text, said, isNegated),
  }));
  if (read.length > 0 && read.every(({ isEcho }) => isEcho)) return null;
  return newParts(answer, read);
}

function isAcknowledgement(sentence: string, said: ReadonlySet<string>, isNegated: boolean): boolean {
  let rest = sentence.trim();
  let hasBegun = false;
  for (let opener = OPENER.exec(rest); opener !== null && rest !== ''; opener = OPENER.exec(rest)) {
    rest = rest.slice(opener[0].length);
    hasBegun = true;
  }
  if (rest === '') return hasBegun;
  if (!hasBegun && !PROMISE.test(rest) && !COURTESY.test(rest)) return false;
  if (NEGATION.test(rest.replace(COURTESY, '').replace(/\bnot? (?:to )?forget\b|n[’']t forget\b/giu, '')) && !isNegated)
    return false;
  return [...wordsOf(rest)].every((word) => said.has(word) || OWN_WORDS.has(word));
}

/** Returns the stems of a text's words, with or without stop words; numbers unchanged. */
function wordsOf(text: string, all = false): ReadonlySet<string> {
  const words =
    text
      .normalize('NFKC')
      .replaceAll(/[’'](?:s|ll|ve|re|m|d)\b/giu, '')
      .match(WORD_OR_SIGN) ?? [];
  const telling = words.filter((word, at) => all || !STOP_WORDS.has(plain(word)) || isName(word, at));
  return new Set(telling.map((word) => (/\p{N}/u.test(word) ? word.toLowerCase() : stemOf(plain(word)))));
}

const WORD_OR_SIGN = /[\p{L}\p{M}\p{N}]+(?:[.,:/’'-][\p{L}\p{N}]+)*|[$€£¥%+-](?=\p{N})|%/gu;

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[’']/gu, '');
}

/** Whether a stop word is a name because of its capital: `May`, `US`, `Will`. */
function isName(word: string, at: number): boolean {
  return at > 0 && /^\p{Lu}/u.test(word) && !/^I(?:$|[’'])/u.test(word);
}
