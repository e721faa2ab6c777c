import { isCommonWord } from '../../language/common-words.ts';
import { type TypeVotes, vote } from './entity-type.ts';
import { mayBeProduct } from './known-products.ts';

/** Names of variables of the environment: `MONGODB_URL`, `SHOP_REDIS_HOST`. */
const VARIABLE = /\b[A-Z][A-Z\d]{1,30}(?:_[A-Z\d]{1,30}){1,6}\b/gu;
/** Commands that install or run what they name. */
const INSTALLED =
  /\b(?:npm (?:install|i)|(?:npm|yarn|pnpm|cargo) add|(?:pip3?|pipx|brew|apt|apt-get|dnf|yum|apk|gem|cargo|helm|choco|winget) install|docker (?:run|pull)|go (?:get|install)|npx|apk add|systemctl (?:start|enable|restart)) {1,4}([^\n`]{1,200})/gu;
/** A command in code font: `redis-cli ping` begins with its program. */
const COMMAND = /`([a-z][a-z\d]{1,30})(?:-[a-z\d]{1,20})?(?: [^`\n]{1,100})?`/gu;
/** More than a trained model needs to be told otherwise, less than a sentence that defines the name. */
const SOFTWARE_WEIGHT = 2.5;

const OTHERS = [
  ['Person', 1],
  ['Organisation', 1],
  ['Work', 1],
  ['Place', 1.5],
] as const;

/** Words in lower case that a text uses as technical writing uses names of programs: in variables, in commands. */
export function softwareWords(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [variable] of text.matchAll(VARIABLE)) {
    // The last part says what of it the variable holds.
    for (const part of variable.toLowerCase().split('_').slice(0, -1)) words.add(part);
  }
  for (const [, given = ''] of text.matchAll(INSTALLED)) {
    for (const word of given.split(/\s+/u)) if (!word.startsWith('-')) words.add(packageName(word.toLowerCase()));
  }
  for (const [, program = ''] of text.matchAll(COMMAND)) words.add(program);
  return words;
}

/** `docker.io/library/redis:7` and `@scope/redis@7` are both redis. */
function packageName(word: string): string {
  return (/([a-z][a-z\d]*)(?:[:@=<>[].*)?$/u.exec(word) ?? [])[1] ?? '';
}

/**
 * Votes for a product where the text uses the name as one of software, or speaks of known products beside it, and nothing
 * says that it is something else.
 */
export function voteForSoftware(
  draft: { readonly name: string; readonly kind: string; readonly votes: TypeVotes; isKeyword: boolean },
  software: ReadonlySet<string>,
  isTechnical: boolean,
): void {
  const { name, kind, votes } = draft;
  const lower = name.toLowerCase();
  const isUsed = software.has(lower) && /\p{Ll}/u.test(name) && !isCommonWord(lower);
  if (kind !== 'name' || !(isUsed || (isTechnical && mayBeProduct(name)))) return;
  // `in Redis` alone makes no place of it.
  const isElse = OTHERS.some(([type, least]) => (votes.get(type) ?? 0) >= least);
  if (isElse) return;
  vote(votes, 'Product', SOFTWARE_WEIGHT);
  draft.isKeyword = false;
}
