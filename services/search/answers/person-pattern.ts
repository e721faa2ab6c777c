import { calledLike } from './relative-names.ts';

const OWN = "(?<![\\p{L}’'-])(?:I|(?:[Tt]he user|User)(?:, \\p{Lu}[\\p{L} '’-]{1,40},)?)(?!['’]s )";

/** How a sentence calls what is of whoever asks: `my`, `the user’s`. */
export const OF_SELF = "(?<![\\p{L}’'-])(?:[Mm]y|[Oo]ur|(?:[Tt]he user|User)['’]s)";

/**
 * Returns a pattern for how a sentence calls somebody of whom a question is: `I`, or a name or relative. `my brother Tom` is Tom, and
 * `Tom` may have a surname; relatives have several names: `my mum` is `my mother`.
 */
export function personPattern(whose: string): string {
  if (whose === 'I') return OWN;
  const [, owner, relative] = /^(my|our|.+?['’]s) ((?:\p{Ll}+ )?\p{Ll}+)$/iu.exec(whose) ?? [];
  const called = "(?:,? \\p{Lu}[\\p{L}’'-]+(?: \\p{Lu}[\\p{L}’'-]+)?,?)?";
  if (owner === undefined || relative === undefined)
    return `(?:(?<=(?:[Mm]y|['’]s) \\p{Ll}+ )|(?<![\\p{L}’'-]))${RegExp.escape(whose)}(?: \\p{Lu}[\\p{L}’'-]+)?`;
  const last = relative.split(' ').at(-1) ?? '';
  const words = calledLike(last).map((word) => RegExp.escape(relative.slice(0, relative.length - last.length) + word));
  const whoever = /^(?:my|our)$/iu.test(owner)
    ? OF_SELF
    : `(?<![\\p{L}’'-])${RegExp.escape(owner.replace(/['’]s$/u, ''))}['’]s`;
  return `${whoever} (?:(?!ex\\b|former\\b|late\\b)\\p{Ll}+ )?(?:${words.join('|')})(?![\\p{L}-])${called}`;
}
