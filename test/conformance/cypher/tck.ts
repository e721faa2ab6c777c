import { createBudget } from '../../../services/common/storage/cypher/budget.ts';
import type { Environment, Row } from '../../../services/common/storage/cypher/environment.ts';
import { compile } from '../../../services/common/storage/cypher/evaluate.ts';
import { toText } from '../../../services/common/storage/cypher/functions.ts';
import { createGraph, type GraphBuilder } from '../../../services/common/storage/cypher/graph.ts';
import { createMatcherFactory } from '../../../services/common/storage/cypher/match.ts';
import { expression } from '../../../services/common/storage/cypher/parse-expression.ts';
import { patternList } from '../../../services/common/storage/cypher/parse-pattern.ts';
import type { Parser } from '../../../services/common/storage/cypher/parser.ts';
import type { MapEntries, Pattern } from '../../../services/common/storage/cypher/syntax.ts';
import { createTokenReader } from '../../../services/common/storage/cypher/token-reader.ts';
import { tokenize } from '../../../services/common/storage/cypher/tokens.ts';
import {
  type GraphEdge,
  type GraphNode,
  isList,
  isMap,
  kindOf,
  type Path,
  type Properties,
  type Value,
} from '../../../services/common/storage/cypher/values.ts';

/** A scenario of the openCypher TCK as `collect-tck.ts` reads it. */
export interface Scenario {
  readonly name: string;
  /** Statements that make the graph. */
  readonly given: readonly string[];
  readonly graph: string | null;
  readonly hasParameters: boolean;
  readonly query: string;
  /** The names of the columns, then the rows. */
  readonly rows: readonly (readonly string[])[];
  readonly isOrdered: boolean;
  readonly ignoresListOrder: boolean;
  readonly error: string | null;
  /** Names in `<…>`, then their values in each run. */
  readonly examples: readonly (readonly string[])[];
}

export interface TckFeature {
  readonly feature: string;
  readonly applies: readonly Scenario[];
  /** Names and reasons. */
  readonly leftOut: readonly (readonly [name: string, reason: string])[];
}

/** One scenario for each row of its examples. */
export function runsOf(scenario: Scenario): readonly Scenario[] {
  const [names = [], ...rows] = scenario.examples;
  if (rows.length === 0) return [scenario];
  return rows.map((row) => {
    const fill = (text: string) =>
      names.reduce((found, name, index) => found.replaceAll(`<${name}>`, row[index] ?? ''), text);
    return {
      ...scenario,
      name: `${scenario.name} (${row.join(', ')})`,
      given: scenario.given.map(fill),
      query: fill(scenario.query),
      rows: scenario.rows.map((cells) => cells.map(fill)),
      error: scenario.error === null ? null : fill(scenario.error),
    };
  });
}

/** A graph made by CREATE, with UNWIND and MATCH before it. */
export function graphOf(statements: readonly string[]): GraphBuilder {
  const graph = createGraph();
  for (const statement of statements) execute(graph, statement);
  return graph;
}

function execute(graph: GraphBuilder, statement: string): void {
  const reader = createTokenReader(statement, tokenize(statement));
  const parser: Parser = { reader, isInComprehension: false, expression: () => expression(parser) };
  let slots = 0;
  const scope = new Map<string, number>();
  const environment: Environment = {
    scope,
    known: new Map(),
    newSlot: () => slots++,
    match: createMatcherFactory(graph, createBudget(10_000)),
  };
  let rows: Row[] = [[]];
  while (reader.peek().kind !== 'end') {
    if (reader.takeWord('CREATE')) {
      const patterns = patternList(parser);
      for (const row of rows) for (const pattern of patterns) create(graph, pattern, environment, row);
    } else if (reader.takeWord('UNWIND')) {
      const list = compile(parser.expression(), environment);
      reader.expectWord('AS');
      const slot = slots++;
      rows = rows.flatMap((row) =>
        (list(row) as readonly Value[]).map((value) => Object.assign([...row], { [slot]: value })),
      );
      scope.set(reader.name(), slot);
    } else if (reader.takeWord('MATCH')) {
      const matcher = environment.match(patternList(parser), null, environment);
      rows = rows.flatMap((row) => {
        const found: Row[] = [];
        matcher.run(row, (match) => found.push(match.slice()) > 0);
        return found;
      });
      for (const [name, slot] of matcher.scope) scope.set(name, slot);
    } else if (reader.takeWord('WITH')) reader.expectSign('*');
    else if (!reader.takeSign(';')) reader.refuse();
  }
}

const constant = (properties: Properties) => () => properties;

function create(graph: GraphBuilder, { nodes, relationships }: Pattern, environment: Environment, row: Row): void {
  const { scope } = environment;
  const properties = (entries: MapEntries | null): Properties =>
    new Map(
      (entries ?? [])
        .map(([key, value]) => [key, compile(value, environment)(row)] as const)
        .filter(([, value]) => value !== null),
    );
  const labelsOf = (labels: Pattern['nodes'][number]['labels']): readonly string[] =>
    labels === null || labels.kind === 'any'
      ? []
      : labels.kind === 'name'
        ? [labels.name]
        : labels.kind === 'not'
          ? []
          : labels.of.flatMap(labelsOf);
  const keep = (name: string | null, value: Value) => {
    if (name === null) return;
    if (!scope.has(name)) (scope as Map<string, number>).set(name, environment.newSlot());
    row[scope.get(name) as number] = value;
  };
  const made = nodes.map(({ name, labels, properties: entries }) => {
    const slot = name === null ? undefined : scope.get(name);
    const known = slot === undefined ? null : (row[slot] ?? null);
    if (known !== null) return known as GraphNode;
    const node = graph.addNode(labelsOf(labels), constant(properties(entries)));
    keep(name, node);
    return node;
  });
  relationships.forEach(({ name, labels, properties: entries, pointsLeft }, at) => {
    const ends = [made[at] as GraphNode, made[at + 1] as GraphNode] as const;
    const [source, target] = pointsLeft ? ([ends[1], ends[0]] as const) : ends;
    keep(name, graph.addEdge(source, labelsOf(labels)[0] ?? '', target, constant(properties(entries))));
  });
}

/** A value as the TCK writes it, with keys, labels and, if asked, lists sorted. */
export function written(value: Value, sortsLists: boolean): string {
  const entries = (properties: Properties) =>
    [...properties]
      .map(([key, entry]) => `${key}: ${written(entry, sortsLists)}`)
      .sort()
      .join(', ');
  const inside = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(' ');
  const map = (properties: Properties) => (properties.size === 0 ? '' : `{${entries(properties)}}`);
  const node = ({ labels, properties }: GraphNode) =>
    `(${inside(
      labels
        .toSorted()
        .map((label) => `:${label}`)
        .join(''),
      map(properties),
    )})`;
  const edge = ({ type, properties }: GraphEdge) => `[${inside(`:${type}`, map(properties))}]`;
  if (value === null) return 'null';
  if (typeof value === 'string') return `'${value}'`;
  if (isList(value)) {
    const parts = value.map((entry) => written(entry, sortsLists));
    return `[${(sortsLists ? parts.sort() : parts).join(', ')}]`;
  }
  if (isMap(value)) return `{${entries(value)}}`;
  switch (kindOf(value)) {
    case 'node':
      return node(value as GraphNode);
    case 'edge':
      return edge(value as GraphEdge);
    case 'path': {
      const { nodes, edges } = value as Path;
      const steps = edges.map((one, at) => {
        const isRight = one.source === nodes[at];
        return `${isRight ? '-' : '<-'}${edge(one)}${isRight ? '->' : '-'}${node(nodes[at + 1] as GraphNode)}`;
      });
      return `<${node(nodes[0] as GraphNode)}${steps.join('')}>`;
    }
    case 'boolean':
    case 'number':
      return String(toText(value));
    default:
      return `'${toText(value)}'`;
  }
}

/** The text of a cell in the same form. */
export function cell(text: string, sortsLists: boolean): string {
  let at = 0;
  const space = () => {
    while (text[at] === ' ') at += 1;
  };
  const take = (sign: string) => {
    space();
    if (!text.startsWith(sign, at)) return false;
    at += sign.length;
    return true;
  };
  const until = (pattern: RegExp) => {
    const start = at;
    while (at < text.length && !pattern.test(text[at] as string)) at += 1;
    return text.slice(start, at).trim();
  };
  const map = (): string => {
    const entries: string[] = [];
    while (!take('}')) {
      take(',');
      space();
      const key = until(/:/);
      at += 1;
      entries.push(`${key}: ${value()}`);
    }
    return entries.length === 0 ? '' : `{${entries.sort().join(', ')}}`;
  };
  const element = (end: string): string => {
    space();
    const labels = until(/[{)\]]/)
      .split(':')
      .slice(1)
      .map((label) => `:${label.trim()}`)
      .sort()
      .join('');
    const properties = take('{') ? map() : '';
    take(end);
    return [labels, properties].filter((part) => part !== '').join(' ');
  };
  const path = (): string => {
    let found = '';
    while (!take('>')) {
      if (take('->')) found += '->';
      else if (take('(')) found += `(${element(')')})`;
      else if (take('[')) found += `[${element(']')}]`;
      else found += text[at++];
    }
    return `<${found}>`;
  };
  const value = (): string => {
    space();
    if (take('(')) return `(${element(')')})`;
    if (take('<')) return path();
    if (take('{')) return map() || '{}';
    if (text.startsWith('[:', at) && take('[')) return `[${element(']')}]`;
    if (take('[')) {
      const entries: string[] = [];
      while (!take(']')) {
        take(',');
        entries.push(value());
      }
      return `[${(sortsLists ? entries.sort() : entries).join(', ')}]`;
    }
    if (text[at] === "'") {
      const end = /'((?:[^'\\]|\\.)*)'/y;
      end.lastIndex = at;
      const found = end.exec(text)?.[1] ?? '';
      at = end.lastIndex;
      return `'${found.replaceAll(/\\(.)/g, '$1')}'`;
    }
    const word = until(/[,\]}]/);
    return /^-?[\d.]+(e[+-]?\d+)?$/i.test(word) && /[.e]/i.test(word) ? String(toText(Number(word))) : word;
  };
  return value();
}
