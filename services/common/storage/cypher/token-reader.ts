import { CypherRefusedError, type Token } from './tokens.ts';

/** Deeper nesting is an attack on the planner, not a question. */
const MAX_DEPTH = 40;
/** Limit of backtracking; no reasonable query needs so many steps. */
const MAX_STEPS = 100_000;

/** Reads tokens one after another, and can go back. */
export type TokenReader = ReturnType<typeof createTokenReader>;

export function createTokenReader(query: string, tokens: readonly Token[]) {
  let at = 0;
  let depth = 0;
  let steps = 0;
  const last = tokens.length - 1;
  const peek = (ahead = 0) => tokens[Math.min(at + ahead, last)] as Token;
  const refuse = (why?: string): never => {
    const token = peek();
    const found = token.kind === 'end' ? 'the end' : JSON.stringify(query.slice(token.start, token.end).slice(0, 40));
    throw new CypherRefusedError(why ?? `Not supported at letter ${token.start + 1}: ${found}.`);
  };
  const isSign = (text: string, ahead = 0) => peek(ahead).kind === 'sign' && peek(ahead).text === text;
  const isWord = (word: string, ahead = 0) => peek(ahead).kind === 'name' && peek(ahead).text.toUpperCase() === word;
  const take = () => {
    const token = peek();
    steps += 1;
    if (steps > MAX_STEPS) throw new RangeError('The query is too complicated.');
    at = Math.min(at + 1, last);
    return token;
  };
  const takeIf = (is: boolean) => {
    if (is) take();
    return is;
  };
  return {
    /** The token `ahead` places further on. */
    peek,
    isSign,
    isWord,
    take,
    refuse,
    /** Takes the sign or word if it is next. */
    takeSign: (text: string) => takeIf(isSign(text)),
    takeWord: (word: string) => takeIf(isWord(word)),
    takeWords(...words: readonly string[]) {
      if (!words.every((word, ahead) => isWord(word, ahead))) return false;
      at += words.length;
      return true;
    },
    expectSign(text: string) {
      if (!takeIf(isSign(text))) refuse();
    },
    expectWord(word: string) {
      if (!takeIf(isWord(word))) refuse();
    },
    /** Variable, label, type, property or map key. */
    name() {
      if (peek().kind !== 'name' && peek().kind !== 'quoted') refuse();
      return take().text;
    },
    /** Result of the reading, or null with the place unchanged when the query says something else there. */
    attempt<T>(read: () => T): T | null {
      const start = at;
      const startDepth = depth;
      try {
        return read();
      } catch (error) {
        if (!(error instanceof CypherRefusedError)) throw error;
        at = start;
        depth = startDepth;
        return null;
      }
    },
    nested<T>(read: () => T): T {
      depth += 1;
      if (depth > MAX_DEPTH) refuse('The query is nested too deep.');
      const result = read();
      depth -= 1;
      return result;
    },
    /** The words of the query since a token. */
    textSince: (from: Token) => query.slice(from.start, (tokens[at - 1] ?? from).end),
  };
}
