import type { Json } from '../../kernel/json.ts';
import { isDate, jsonText, type Temporal } from './temporal.ts';
import { CypherRefusedError } from './tokens.ts';

/** Whole numbers are bigint, floating point numbers are number. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly Value[]
  | ReadonlyMap<string, Value>
  | GraphNode
  | GraphEdge
  | Path
  | Temporal;

export type Properties = ReadonlyMap<string, Value>;

export interface GraphNode {
  readonly kind: 'node';
  /** Place in the graph. */
  readonly place: number;
  readonly labels: readonly string[];
  readonly properties: Properties;
  readonly out: GraphEdge[];
  readonly in: GraphEdge[];
}

export interface GraphEdge {
  readonly kind: 'edge';
  readonly place: number;
  readonly type: string;
  readonly source: GraphNode;
  readonly target: GraphNode;
  readonly properties: Properties;
}

/** One node more than edges. */
export interface Path {
  readonly kind: 'path';
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

type ValueKind =
  | 'null' | 'boolean' | 'number' | 'string' | 'list' | 'map' | 'node' | 'edge' | 'path' | Temporal['kind']; // biome-ignore format: one line

export function kindOf(value: Value): ValueKind {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'bigint':
    case 'number':
      return 'number';
  }
  if (Array.isArray(value)) return 'list';
  return value instanceof Map ? 'map' : (value as GraphNode | GraphEdge | Path | Temporal).kind;
}

export function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is ReadonlyMap<string, Value> {
  return value instanceof Map;
}

/** Properties of a node, an edge or a map; null for other values. */
export function propertiesOf(value: Value): Properties | null {
  if (isMap(value)) return value;
  const kind = kindOf(value);
  return kind === 'node' || kind === 'edge' ? (value as GraphNode | GraphEdge).properties : null;
}

/** Whether two values are equal; null when a null in them leaves it open. */
export function equals(left: Value, right: Value): boolean | null {
  if (left === null || right === null) return null;
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number are compared by value
  if (isNumber(left) && isNumber(right)) return left == right;
  if (isList(left) && isList(right)) {
    if (left.length !== right.length) return false;
    return allOf(left.map((value, index) => () => equals(value, right[index] ?? null)));
  }
  if (isMap(left) && isMap(right)) {
    if (left.size !== right.size || ![...left.keys()].every((key) => right.has(key))) return false;
    return allOf(
      [...left].map(
        ([key, value]) =>
          () =>
            equals(value, right.get(key) ?? null),
      ),
    );
  }
  return keyOf(left) === keyOf(right);
}

/** AND of three values: false when one is, else null when one is. */
function allOf(conditions: readonly (() => boolean | null)[]): boolean | null {
  let result: boolean | null = true;
  for (const condition of conditions) {
    const value = condition();
    if (value === false) return false;
    result = value === null ? null : result;
  }
  return result;
}

/** Below, equal or above zero; null for values that have no order among each other, NaN for one that is no number. */
export function compare(left: Value, right: Value): number | null {
  if (left === null || right === null) return null;
  if (isNumber(left) && isNumber(right)) {
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.NaN;
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (isList(left) && isList(right)) {
    for (let index = 0; index < Math.min(left.length, right.length); index++) {
      const found = compare(left[index] ?? null, right[index] ?? null);
      if (found !== 0) return found;
    }
    return left.length - right.length;
  }
  if (typeof left !== typeof right) return null;
  if (typeof left === 'string' || typeof left === 'boolean') return order(left, right as typeof left);
  return isDate(left) && isDate(right) && left.kind === right.kind ? order(left.nanoseconds, right.nanoseconds) : null;
}

function order<T extends string | boolean | bigint>(left: T, right: T): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The kinds in the order of ORDER BY, ascending. */
const SORT_ORDER: readonly ValueKind[] = [
  ...(['map', 'node', 'edge', 'list', 'path', 'datetime', 'localdatetime', 'date'] as const),
  ...(['string', 'boolean', 'number', 'null'] as const),
];

/** Total order of ORDER BY, min and max. */
export function compareForSort(left: Value, right: Value): number {
  const kind = kindOf(left);
  const other = kindOf(right);
  if (kind !== other) return SORT_ORDER.indexOf(kind) - SORT_ORDER.indexOf(other);
  if (isList(left) && isList(right)) {
    for (let index = 0; index < Math.min(left.length, right.length); index++) {
      const found = compareForSort(left[index] ?? null, right[index] ?? null);
      if (found !== 0) return found;
    }
    return left.length - right.length;
  }
  const found = compare(left, right);
  if (found !== null && !Number.isNaN(found)) return found;
  if (kind === 'number') return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return order(keyOf(left), keyOf(right));
}

/** The same text for values that are the same in DISTINCT and in groups. */
export function keyOf(value: Value): string {
  if (value === null) return '-';
  switch (typeof value) {
    case 'boolean':
      return value ? 't' : 'f';
    case 'string':
      return `s${value.length}:${value}`;
    case 'bigint':
      return `n${value}`;
    case 'number':
      return Number.isSafeInteger(value) ? `n${BigInt(value)}` : `n${value}`;
  }
  if (isList(value)) return `[${value.map(keyOf).join(',')}]`;
  if (isMap(value)) {
    const entries = [...value].map(([key, entry]) => `${keyOf(key)}=${keyOf(entry)}`);
    return `{${entries.sort().join(',')}}`;
  }
  if (isDate(value)) return `${value.kind} ${value.text}`;
  if (value.kind !== 'path') return `${value.kind} ${value.place}`;
  return `path ${value.nodes.map(({ place }) => place)} ${value.edges.map(({ place }) => place)}`;
}

/** Roughly the bytes that a value takes; elements of the graph are there anyway. */
export function weightOf(value: Value): number {
  if (typeof value === 'string') return 50 + value.length;
  if (isList(value)) return value.reduce<number>((sum, entry) => sum + weightOf(entry), 50);
  return isMap(value) ? 50 + weightOf([...value.values()]) : 20;
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * A value of a result, the same as from Neo4j: nodes and relationships as their properties, a path as node, relation,
 * node …, times as ISO text, whole numbers beyond 2^53 as text.
 */
export function toJson(value: Value): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value > SAFE || value < -SAFE ? String(value) : Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (isList(value)) return value.map(toJson);
  if (isDate(value)) return jsonText(value);
  const properties = propertiesOf(value);
  if (properties !== null) return Object.fromEntries([...properties].map(([key, entry]) => [key, toJson(entry)]));
  const { nodes, edges } = value as Path;
  return nodes.flatMap((node, index) => (index === 0 ? [toJson(node)] : [edges[index - 1]?.type ?? '', toJson(node)]));
}

/** A property of the graph, as Neo4j holds it: its driver writes every number of JavaScript as a floating point number. */
export function fromJson(value: Json): Value {
  if (Array.isArray(value)) return value.map((entry: Json) => fromJson(entry));
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, entry]) => [key, fromJson(entry ?? null)]));
}

/** A failure of the query's own making, worded as Neo4j words it. */
export function typeMismatch(expected: string, value: Value): CypherRefusedError {
  return new QueryFailure(`Type mismatch: expected ${expected} but was ${typeName(value)}`);
}

/** The query was understood and cannot be run on these values. */
export class QueryFailure extends CypherRefusedError {}

export function typeName(value: Value): string {
  if (typeof value === 'bigint') return 'Integer';
  if (typeof value === 'number') return 'Float';
  if (isList(value)) {
    const inner = new Set(value.map(typeName));
    return `List<${inner.size === 1 ? [...inner][0] : 'Any'}>`;
  }
  const kind = kindOf(value);
  return kind === 'edge' ? 'Relationship' : kind.charAt(0).toUpperCase() + kind.slice(1);
}
