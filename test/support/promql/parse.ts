import { parser } from '@prometheus-io/lezer-promql';

/** The part of PromQL that rules and dashboards use. Parsed and evaluated here because `promtool` is not available offline. */
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
      readonly arguments: readonly Expression[];
    }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression };

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

type Type = 'number' | 'vector' | 'range';

/** Types of arguments, which the grammar does not check. Other functions are refused. */
const FUNCTIONS: Readonly<Record<string, readonly Type[]>> = {
  rate: ['range'],
  increase: ['range'],
  min_over_time: ['range'],
  histogram_quantile: ['number', 'vector'],
};
const AGGREGATIONS: Readonly<Record<string, readonly Type[]>> = {
  sum: ['vector'],
  max: ['vector'],
  topk: ['number', 'vector'],
};

type Node = ReturnType<typeof parser.parse>['topNode'];

/** Reads by Prometheus' own grammar. Throws for what it has no place for, and for what is not used here so far. */
export function parseQuery(query: string): Expression {
  const tree = parser.parse(query);
  tree.iterate({
    enter({ type, from }) {
      if (type.isError) throw new Error(`syntax error at ${from}: ${query}`);
    },
  });
  return reader(query)(childrenOf(tree.topNode)[0] ?? tree.topNode);
}

function reader(query: string): (node: Node) => Expression {
  const textOf = ({ from, to }: Node): string => query.slice(from, to);
  const refuse = (node: Node, why: string): never => {
    throw new Error(`${textOf(node)}: ${why}, in: ${query}`);
  };

  function read(node: Node): Expression {
    const children = childrenOf(node);
    const [first, second, third] = children;
    if (node.name === 'NumberDurationLiteral') return { kind: 'number', value: Number(textOf(node)) };
    if (node.name === 'VectorSelector') return selector(node);
    if (first !== undefined && children.length === 1 && node.name === 'ParenExpr') return read(first);
    if (first !== undefined && second !== undefined) {
      if (node.name === 'MatrixSelector') return ranged(first, second);
      if (node.name === 'FunctionCall') {
        return { kind: 'call', name: textOf(first), arguments: checked(node, textOf(first), FUNCTIONS, second) };
      }
      if (node.name === 'AggregateExpr') return aggregation(node, children);
      if (third !== undefined && children.length === 3 && node.name === 'BinaryExpr') {
        const [left, right] = [read(first), read(third)];
        if ([left, right].some((side) => typeOf(side) === 'range')) refuse(node, 'a range has no operators');
        return { kind: 'binary', operator: textOf(second), left, right };
      }
    }
    return refuse(node, `${node.name} is not used here so far`);
  }

  function ranged(of: Node, duration: Node): Expression {
    const vector = read(of);
    if (vector.kind !== 'selector' || vector.rangeSeconds !== null) return refuse(of, 'only series have ranges');
    return { ...vector, rangeSeconds: secondsOf(textOf(duration)) };
  }

  function aggregation(node: Node, children: readonly Node[]): Expression {
    const named = (name: string) => children.find((child) => child.name === name);
    const [operation, body, modifier] = [named('AggregateOp'), named('FunctionCallBody'), named('AggregateModifier')];
    if (operation === undefined || body === undefined) return refuse(node, 'an aggregation of nothing');
    if (modifier?.getChild('Without')) refuse(modifier, 'without is not used here so far');
    const by = modifier?.getChild('GroupingLabels')?.getChildren('LabelName').map(textOf) ?? [];
    const name = textOf(operation);
    return { kind: 'aggregation', name, by, arguments: checked(node, name, AGGREGATIONS, body) };
  }

  function checked(
    node: Node,
    name: string,
    known: Readonly<Record<string, readonly Type[]>>,
    body: Node,
  ): readonly Expression[] {
    const takes = known[name] ?? refuse(node, `${name} is not used here so far`);
    const given = childrenOf(body).map(read);
    if (given.map(typeOf).join() !== takes.join()) refuse(node, `${name} takes ${takes.join(' and ')}`);
    return given;
  }

  function selector(node: Node): Expression {
    const metric = node.getChild('Identifier');
    if (metric === null) return refuse(node, 'a selector without a metric');
    const matchers = childrenOf(node.getChild('LabelMatchers')).map((matcher): Matcher => {
      const [label, operator, value] = childrenOf(matcher).map(textOf);
      if (matcher.name !== 'UnquotedLabelMatcher' || !value?.startsWith('"'))
        return refuse(matcher, 'not used here so far');
      return {
        label: label ?? '',
        operator: operator as Matcher['operator'],
        value: JSON.parse(value) as string,
      };
    });
    return { kind: 'selector', metric: textOf(metric), matchers, rangeSeconds: null };
  }

  return read;
}

function childrenOf(node: Node | null): readonly Node[] {
  const children: Node[] = [];
  for (let child = node?.firstChild ?? null; child !== null; child = child.nextSibling) {
    if (child.name !== 'LineComment') children.push(child);
  }
  return children;
}

function typeOf(expression: Expression): Type {
  if (expression.kind === 'number') return 'number';
  if (expression.kind === 'selector') return expression.rangeSeconds === null ? 'vector' : 'range';
  if (expression.kind !== 'binary') return 'vector';
  return [expression.left, expression.right].every((side) => typeOf(side) === 'number') ? 'number' : 'vector';
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `1h30m` → 5400; a bare number is seconds */
export function secondsOf(duration: string): number {
  const parts = [...duration.matchAll(/(\d+)(ms|[smhdw])/g)];
  if (parts.length === 0) return Number(duration);
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (SECONDS[unit] ?? Number.NaN), 0);
}

/** The expression and all its parts. */
function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'call':
    case 'aggregation':
      return [expression, ...expression.arguments.flatMap(partsOf)];
    case 'binary':
      return [expression, ...partsOf(expression.left), ...partsOf(expression.right)];
    default:
      return [expression];
  }
}

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

export const selectorsOf = (expression: Expression): readonly Kind<'selector'>[] =>
  partsOf(expression).filter((part) => part.kind === 'selector');

export const aggregationsOf = (expression: Expression): readonly Kind<'aggregation'>[] =>
  partsOf(expression).filter((part) => part.kind === 'aggregation');
