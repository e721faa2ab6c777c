const ASKS_OWN_NAME =
  /^(?:(?:please )?(?:tell me |do you (?:know|remember) ))?(?:what(?: is|['’]s| was) (?:my|the user['’]s) (?:own |full |first |last |real )?(?:name|surname)|who am I|what (?:am I|is the user) called)(?: again)?[?.! ]*$/iu;

/** Whether somebody asks for the own name, which notes say without a word of the question: `I'm Ada Moss, a vet.` */
export const asksOwnName = (question: string): boolean => ASKS_OWN_NAME.test(question.trim());

const WORD = "\\p{Lu}[\\p{L}'’-]*\\p{L}";
const NAME = `(${WORD}(?: (?:(?:de|da|do|dos|van|von|der|den|la|al|bin|zu) )*${WORD}){0,3})`;
/** `My name is Ada`, `The user, Ada Moss, is`, `ich heiße Ada`. */
const SAYS_NAME = new RegExp(
  `(?:\\b[Mm]y (?:full |real )?name(?: is|['’]s|:)|\\b(?:[Tt]he user|User)['’]s (?:full |real )?name is|\\b(?:[Tt]he user|User) (?:is|was) (?:called|named)|\\b[Ii]ch heiße|\\b[Mm]ein Name ist|\\b[Mm]e llamo|\\b[Mm]i nombre es|\\b[Jj]e m['’]appelle) ${NAME}|^(?:[Tt]he user|User), ${NAME}, `,
  'u',
);
const SAYS_USER = new RegExp(
  `(?:^|[.!?\\n] ?)(?:The user|User)(?:,| (?:is|was) (?:called|named)|['’]s (?:full )?name is) ${NAME}(?=[,.\\n]|$)`,
  'u',
);

/** Returns the name of the user in notes of an assistant; null when they do not say it. */
export const userNameIn = (text: string): string | null => SAYS_USER.exec(text)?.[1] ?? null;

/** `I'm Ada Moss, a vet`. */
const SAYS_WHO = new RegExp(`\\bI(?: am|['’]m) ${NAME}(?=[,.;!]|$| and | \\()`, 'u');

/**
 * Returns the name that who says a sentence has by it; null when it says none. `isWord`: whether the last word of it says what
 * one is: `I'm German`, `I am Catholic`; of a name alone a dictionary has none.
 */
export function ownNameIn(sentence: string, isWord: (word: string, isAlone: boolean) => boolean): string | null {
  const said = SAYS_NAME.exec(sentence);
  if (said !== null) return said[1] ?? said[2] ?? null;
  const name = SAYS_WHO.exec(sentence)?.[1];
  if (name === undefined) return null;
  const words = name.toLowerCase().split(' ');
  return isWord(words.at(-1) ?? '', words.length === 1) ? null : name;
}
