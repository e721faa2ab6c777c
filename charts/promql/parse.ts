/** The part of Prometheus' query language that rules and dashboards here use. Anything else is a syntax error. */
export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | {
      readonly kind: 'selector';
      readonly metric: string;
      readonly matchers: readonly Matcher[];
      readonly rangeSeconds: number | null;
    }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Expression[] }
  | {
      readonly kind: 'aggregation';
      readonly name: string;
      readonly by: readonly string[];
      readonly parameter: Expression | null;
      readonly of: Expression;
    }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression };

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** What each function takes: an instant vector, a range vector, or a number first and then a vector. */
export const FUNCTIONS: Readonly<Record<string, 'vector' | 'range' | 'number, vector'>> = {
  rate: 'range',
  increase: 'range',
  min_over_time: 'range',
  max_over_time: 'range',
  histogram_quantile: 'number, vector',
};
export const AGGREGATIONS = ['sum', 'min', 'max', 'avg', 'count', 'topk'];

const TOKEN =
  /\s*(?:(?<number>\d+(?:\.\d+)?)(?![smhdw\w])|(?<duration>\d+[smhdw])|(?<word>[a-zA-Z_:][\w:]*)|(?<string>"(?:[^"\\]|\\.)*")|(?<sign>=~|!~|!=|==|>=|<=|[-+*/%(){}[\],=<>]))/y;

interface Token {
  readonly type: 'number' | 'duration' | 'word' | 'string' | 'sign' | 'end';
  readonly text: string;
}

/** From the loosest to the tightest. */
const LEVELS: readonly (readonly string[])[] = [
  ['or'],
  ['and', 'unless'],
  ['==', '!=', '>', '<', '>=', '<='],
  ['+', '-'],
  ['*', '/', '%'],
];

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Throws with what is wrong and where. */
export function parseQuery(query: string): Expression {
  const tokens = tokensOf(query);
  let position = 0;
  const peek = (): Token => tokens[position] ?? { type: 'end', text: '' };
  const fail = (what: string): never => {
    throw new Error(`${what}, found "${peek().text}" in: ${query}`);
  };
  const take = (): Token => {
    const token = peek();
    position += 1;
    return token;
  };
  const accept = (text: string): boolean => {
    if (peek().type === 'string' || peek().text !== text) return false;
    position += 1;
    return true;
  };
  const expect = (text: string): void => {
    if (!accept(text)) fail(`expected "${text}"`);
  };

  function level(depth: number): Expression {
    const operators = LEVELS[depth];
    if (operators === undefined) return primary();
    let left = level(depth + 1);
    while (peek().type !== 'string' && operators.includes(peek().text)) {
      const operator = take().text;
      left = { kind: 'binary', operator, left, right: level(depth + 1) };
    }
    return left;
  }

  function primary(): Expression {
    const token = take();
    if (token.type === 'number') return { kind: 'number', value: Number(token.text) };
    if (token.text === '(' && token.type === 'sign') {
      const inner = level(0);
      expect(')');
      return inner;
    }
    if (token.type !== 'word') {
      position -= 1;
      return fail('expected an expression');
    }
    if (AGGREGATIONS.includes(token.text)) return aggregation(token.text);
    if (peek().text === '(') return call(token.text);
    return selector(token.text);
  }

  function aggregation(name: string): Expression {
    let by: readonly string[] = accept('by') ? labelNames() : [];
    expect('(');
    const first = level(0);
    const second = accept(',') ? level(0) : null;
    expect(')');
    if (accept('by')) by = labelNames();
    if ((name === 'topk') !== (second !== null)) fail(`${name} takes another number of arguments`);
    return second === null
      ? { kind: 'aggregation', name, by, parameter: null, of: first }
      : { kind: 'aggregation', name, by, parameter: first, of: second };
  }

  function labelNames(): readonly string[] {
    const names: string[] = [];
    expect('(');
    while (!accept(')')) {
      if (names.length > 0) expect(',');
      names.push(take().text);
    }
    return names;
  }

  function call(name: string): Expression {
    const takes = FUNCTIONS[name];
    if (takes === undefined) fail(`there is no function ${name}`);
    expect('(');
    const given = [level(0)];
    while (accept(',')) given.push(level(0));
    expect(')');
    const vector = given.at(-1);
    const isRange = vector?.kind === 'selector' && vector.rangeSeconds !== null;
    if (given.length !== (takes === 'number, vector' ? 2 : 1) || isRange !== (takes === 'range')) {
      fail(`${name} takes ${takes}`);
    }
    return { kind: 'call', name, arguments: given };
  }

  function selector(metric: string): Expression {
    const matchers: Matcher[] = [];
    if (accept('{')) {
      while (!accept('}')) {
        if (matchers.length > 0) expect(',');
        const label = take().text;
        const operator = take().text as Matcher['operator'];
        if (!['=', '!=', '=~', '!~'].includes(operator)) fail('expected a matcher');
        const value = take();
        if (value.type !== 'string') fail('expected a string');
        matchers.push({ label, operator, value: JSON.parse(value.text) as string });
      }
    }
    if (!accept('[')) return { kind: 'selector', metric, matchers, rangeSeconds: null };
    const { type, text } = take();
    if (type !== 'duration') fail('expected a duration');
    expect(']');
    return { kind: 'selector', metric, matchers, rangeSeconds: secondsOf(text) };
  }

  const expression = level(0);
  if (peek().type !== 'end') fail('expected the end');
  return expression;
}

/** `10m` → 600 */
export function secondsOf(duration: string): number {
  return Number(duration.slice(0, -1)) * (SECONDS[duration.slice(-1)] ?? Number.NaN);
}

function tokensOf(query: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < query.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(query)?.groups;
    const found = Object.entries(groups ?? {}).find(([, text]) => text !== undefined);
    if (found === undefined) throw new Error(`not understood at ${at}: ${query.slice(at)}`);
    tokens.push({ type: found[0] as Token['type'], text: found[1] ?? '' });
  }
  return tokens;
}

/** Every selector of the expression. */
export function selectorsOf(expression: Expression): readonly Extract<Expression, { kind: 'selector' }>[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'selector':
      return [expression];
    case 'call':
      return expression.arguments.flatMap(selectorsOf);
    case 'aggregation':
      return selectorsOf(expression.of);
    case 'binary':
      return [...selectorsOf(expression.left), ...selectorsOf(expression.right)];
  }
}
