import { isCommonWord } from './common-words.ts';

/**
 * English function words and question words: in queries they say nothing about the subject. They stay in the index, so
 * that a query of nothing else ("The Who", "to be or not to be") still finds its text.
 */
const FUNCTION_WORDS = `
a about above after again against all almost also although always am among an and another any anybody anyone anything
are aren around as at away be became because become becomes been before being below between both but by can cannot
could couldn did didn do does doesn doing don done down during each either else ever every everybody everyone
everything few for from further get gets getting give given gives go goes going got had hadn has hasn have haven having
he hence her here hers herself him himself his how however i if in into is isn it its itself just let like ll made make
makes many may maybe me might mine more most much must my myself neither no nobody nor not nothing now of off often on
once one only onto or other others otherwise ought our ours ourselves out over own per perhaps please quite rather re
really same shall she should shouldn since so some somebody someone something somewhat soon still such than that the
their theirs them themselves then there therefore these they thing things this those though through thus to together
too toward towards under until unto up upon us ve very was wasn way we well were weren what whatever when whenever
where whereas wherever whether which whichever while who whoever whole whom whomever whose why will with within without
won would wouldn yes yet you your yours yourself yourselves
`;

const REQUEST_WORDS = `
tell show list name describe explain find know knew known mean means called many much kind type sort say says said
`;

const words = (text: string): string[] => text.trim().split(/\s+/u);

/** Stop words in lower case, without apostrophes. */
export const STOP_WORDS: ReadonlySet<string> = new Set([
  ...words(FUNCTION_WORDS),
  ...words('dont didnt doesnt isnt arent wasnt werent hasnt havent hadnt cant couldnt wont wouldnt shouldnt'),
  ...words('im ive id youre youve hes shes theyre theyve thats whats whos theres lets'),
]);

/** Words of a request that name no subject ("tell me", "what kind of"): removed from queries, not from names. */
export const REQUEST_STOP_WORDS: ReadonlySet<string> = new Set(words(REQUEST_WORDS));

/** A language other than English whose function words are known. */
export interface OtherLanguage {
  readonly language: 'de' | 'es' | 'fr';
  /** Its question words, folded. */
  readonly asking: ReadonlySet<string>;
  /** All its function words, folded. */
  readonly all: ReadonlySet<string>;
}

/**
 * Function words of other languages, folded (`où` → `ou`): question words first, then the rest. They are stop words only of
 * queries in their language, since many are words of English or parts of names.
 */
export const OTHER_LANGUAGES: readonly OtherLanguage[] = [
  {
    language: 'de' as const,
    asking: `wo wer wen wem wessen wie wann warum wieso weshalb woher wohin wogegen womit wofur wovon woran worauf woruber wozu
    wodurch was welche welcher welches welchen welchem`,
    others: `ich du er sie es wir ihr mich mir dich dir sich uns mein meine meinen meinem meiner dein deine deinen sein
    seine ihre unser unsere der die das den dem des ein eine einen einem einer eines und oder aber ist sind bin bist war
    waren wurde wurden wird werden hat habe haben hatte hatten kann in im an am auf aus bei bis fur mit nach seit um von
    vom zu zum zur uber als auch denn noch nicht man gibt heisst heissen viel viele`,
  },
  {
    language: 'es' as const,
    asking: 'donde adonde quien quienes que cual cuales cuando como cuanto cuanta cuantos cuantas',
    others: `yo tu el ella ellos nosotros me te se nos mi mis su sus nuestro nuestra la los las lo un una unos unas y o
    pero es son soy eres era eran fue fueron esta estan estoy ha han he hay a al de del en con por para desde hasta
    sobre no llama llaman llamo`,
  },
  {
    language: 'fr' as const,
    asking: 'ou qui que quoi quel quelle quels quelles quand combien pourquoi quest-ce est-ce',
    others: `comment ca je tu il elle on nous vous ils elles me te se moi toi mon ma mes ton ta tes son sa ses notre nos
    leur leurs le la les un une des du de d l j et mais est sont suis es etait etaient fut a ai as ont avait au aux en dans avec par
    pour sur chez depuis ce cet cette ne pas y appelle sappelle sappellent mappelle`,
  },
].map(({ language, asking, others }) => ({
  language,
  asking: new Set(words(asking)),
  all: new Set([...words(asking), ...words(others)]),
}));

/** Whether a word in lower case is a function word of English, or of another language and no common word of English. */
export const isFunctionWord = (word: string): boolean =>
  STOP_WORDS.has(word) || (!isCommonWord(word) && OTHER_LANGUAGES.some(({ all }) => all.has(word)));

const MIN_WORDS = 2;

export const SPANISH = OTHER_LANGUAGES.find(({ language }) => language === 'es') ?? null;

/**
 * Returns the language of a query, null for English. `folded`: the words of the query in order. Its first word asks in that
 * language, or two words are function words of it and no common words of English.
 */
export function otherLanguageOf(folded: readonly string[]): OtherLanguage | null {
  const known = (word: string) => STOP_WORDS.has(word) || isCommonWord(word);
  return (
    OTHER_LANGUAGES.find(({ asking, all }) => {
      const own = folded.filter((word) => all.has(word) && !known(word));
      const [first] = folded;
      const asks = first !== undefined && asking.has(first);
      return (asks && (!known(first) || own.length > 0)) || own.length >= MIN_WORDS;
    }) ?? null
  );
}
