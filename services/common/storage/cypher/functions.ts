import { isDate, now, parseTemporal, type Temporal, temporalOf } from './temporal.ts';
import { CypherRefusedError } from './tokens.ts';
import {
  equals,
  type GraphEdge,
  type GraphNode,
  isList,
  isMap,
  isNumber,
  kindOf,
  type Path,
  propertiesOf,
  QueryFailure,
  typeMismatch,
  typeName,
  type Value,
} from './values.ts';

interface CypherFunction {
  readonly least: number;
  readonly most: number;
  run(...args: readonly Value[]): Value;
  /** Whether it is called with nulls; otherwise a null makes the result null. */
  readonly takesNull?: boolean;
}

const MAX_INTEGER = 2n ** 63n - 1n;

/** Whole numbers have 64 bits. */
export function integer(value: bigint): bigint {
  if (value > MAX_INTEGER || value < -MAX_INTEGER - 1n) throw new QueryFailure('long overflow');
  return value;
}

export function text(value: Value): string {
  if (typeof value !== 'string') throw typeMismatch('String', value);
  return value;
}

export function whole(value: Value): number {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number' || !Number.isInteger(value)) throw typeMismatch('Integer', value);
  return value;
}

function numeric(value: Value): number {
  if (!isNumber(value)) throw typeMismatch('Float', value);
  return Number(value);
}

export function asList(value: Value): readonly Value[] {
  if (!isList(value)) throw typeMismatch('List<Any>', value);
  return value;
}

function element<Kind extends 'node' | 'edge' | 'path'>(value: Value, kind: Kind, name: string) {
  if (kindOf(value) !== kind) throw typeMismatch(name, value);
  return value as Extract<GraphNode | GraphEdge | Path, { kind: Kind }>;
}

function atLeastZero(value: Value): number {
  const count = whole(value);
  if (count < 0) throw new QueryFailure('Cannot handle negative start index nor negative length');
  return count;
}

function measure(run: (value: number) => number): CypherFunction {
  return { least: 1, most: 1, run: (value) => run(numeric(value ?? null)) };
}

function ofText(run: (value: string) => string): CypherFunction {
  return { least: 1, most: 1, run: (value) => run(text(value ?? null)) };
}

function one(run: (value: Value) => Value): CypherFunction {
  return { least: 1, most: 1, run: (value) => run(value ?? null) };
}

export function toText(value: Value): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return floatText(value);
  return isDate(value) ? value.text : null;
}

/** A floating point number in Java's way, which is Neo4j's. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  const isPlain = value === 0 || (size >= 1e-3 && size < 1e7);
  const [digits = '', power] = (isPlain ? String(value) : value.toExponential()).split('e');
  const mantissa = digits + (digits.includes('.') ? '' : '.0');
  return power === undefined ? mantissa : `${mantissa}E${Number(power)}`;
}

function toInteger(value: Value): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  const number = toFloat(value);
  if (number === null || !Number.isFinite(number)) return null;
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value)
    ? BigInt(value.trim())
    : BigInt(Math.trunc(number));
}

function toFloat(value: Value): number | null {
  if (isNumber(value)) return Number(value);
  if (typeof value !== 'string' || !/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return null;
  return Number(value);
}

function toBoolean(value: Value): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value !== 0n;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return word === 'true' ? true : word === 'false' ? false : null;
}

/** Refuses kinds that have no such form; a text that cannot be read gives null. */
function conversion(name: string, kinds: readonly string[], run: (value: Value) => Value): CypherFunction {
  return one((value) => {
    if (!kinds.includes(kindOf(value)))
      throw new QueryFailure(`Type mismatch: ${name}() cannot convert a value of type ${typeName(value)}`);
    return run(value);
  });
}

const SCALARS = ['boolean', 'number', 'string'];

function round(...[value = null, precision = 0n, mode = 'HALF_UP']: readonly Value[]): number {
  const number = numeric(value);
  if (String(mode).toUpperCase() !== 'HALF_UP') throw new QueryFailure('round() is served with HALF_UP only');
  const scale = 10 ** whole(precision);
  const scaled = number * scale;
  const rounded = precision === 0n ? Math.floor(scaled + 0.5) : Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
  return Number.isFinite(scaled) ? rounded / scale : number;
}

function size(value: Value): bigint {
  if (typeof value === 'string') return BigInt([...value].length);
  return BigInt(asList(value).length);
}

function isEmpty(value: Value): boolean {
  return isMap(value) ? value.size === 0 : size(value) === 0n;
}

function reverse(value: Value): Value {
  return typeof value === 'string' ? [...value].reverse().join('') : asList(value).toReversed();
}

function substring(...[value = null, start = null, length]: readonly Value[]): string {
  const letters = [...text(value)];
  const from = atLeastZero(start);
  return letters.slice(from, length === undefined ? undefined : from + atLeastZero(length ?? null)).join('');
}

function range(...[first = null, last = null, step = 1n]: readonly Value[]): readonly bigint[] {
  const [from, to, by] = [first, last, step] as readonly bigint[] as [bigint, bigint, bigint];
  const values: bigint[] = [];
  for (let value = from; by > 0n ? value <= to : value >= to; value += by) values.push(value);
  return values;
}

function split(...[value = null, by = null]: readonly Value[]): readonly string[] {
  const parts = isList(by) ? by.map(text) : [text(by)];
  return parts.reduce<readonly string[]>((found, part) => found.flatMap((one) => one.split(part)), [text(value)]);
}

function trim(from: 'both' | 'left' | 'right'): CypherFunction {
  const cut = { both: 'trim', left: 'trimStart', right: 'trimEnd' } as const;
  return ofText((value) => value[cut[from]]());
}

function temporal(kind: Temporal['kind']): CypherFunction {
  return {
    least: 0,
    most: 1,
    run(value) {
      if (value === undefined) return now(kind);
      if (isDate(value))
        return parseTemporal(kind, kind === 'date' ? value.text.slice(0, 10) : value.text) ?? unread(kind);
      return (
        (isMap(value ?? null)
          ? temporalOf(kind, value as ReadonlyMap<string, Value>)
          : parseTemporal(kind, text(value ?? null))) ?? unread(kind)
      );
    },
  };
}

function unread(kind: string): never {
  throw new QueryFailure(
    `${kind}() takes a text in ISO 8601 form, such as '2020-01-31', or a map such as {year: 2020}`,
  );
}

/** Names that the guard lets through to Neo4j and that the embedded graph does not know. */
const NEO4J_ONLY: ReadonlySet<string> = new Set(['duration', 'localtime', 'time']);

const FUNCTIONS: ReadonlyMap<string, CypherFunction> = new Map<string, CypherFunction>([
  ['abs', one((value) => (typeof value === 'bigint' ? integer(value < 0n ? -value : value) : Math.abs(numeric(value))))],
  ['ceil', measure(Math.ceil)],
  ['floor', measure(Math.floor)],
  ['round', { least: 1, most: 3, run: round }],
  ['sign', one((value) => BigInt(Math.sign(numeric(value)) || 0))],
  ['sqrt', measure(Math.sqrt)],
  ['exp', measure(Math.exp)],
  ['log', measure(Math.log)],
  ['log10', measure(Math.log10)],
  ['pi', { least: 0, most: 0, run: () => Math.PI }],
  ['e', { least: 0, most: 0, run: () => Math.E }],
  ['coalesce', { least: 1, most: 100, takesNull: true, run: (...values) => values.find((value) => value !== null) ?? null }],
  ['nullif', { least: 2, most: 2, takesNull: true, run: (left = null, right = null) => (equals(left, right) ? null : left) }],
  ['head', one((value) => asList(value)[0] ?? null)],
  ['last', one((value) => asList(value).at(-1) ?? null)],
  ['tail', one((value) => asList(value).slice(1))],
  ['size', one(size)],
  ['isempty', one(isEmpty)],
  ['reverse', one(reverse)],
  ['range', { least: 2, most: 3, run: range }],
  ['keys', one((value) => [...(propertiesOf(value) ?? mismatched('Map', value)).keys()])],
  ['properties', one((value) => new Map(propertiesOf(value) ?? mismatched('Map', value)))],
  ['labels', one((value) => element(value, 'node', 'Node').labels)],
  ['type', one((value) => element(value, 'edge', 'Relationship').type)],
  ['startnode', one((value) => element(value, 'edge', 'Relationship').source)],
  ['endnode', one((value) => element(value, 'edge', 'Relationship').target)],
  ['nodes', one((value) => element(value, 'path', 'Path').nodes)],
  ['relationships', one((value) => element(value, 'path', 'Path').edges)],
  ['length', one((value) => BigInt(element(value, 'path', 'Path').edges.length))],
  ['left', { least: 2, most: 2, run: (value = null, count = null) => [...text(value)].slice(0, atLeastZero(count)).join('') }],
  ['right', { least: 2, most: 2, run: (value = null, count = null) => right(text(value), atLeastZero(count)) }],
  ['substring', { least: 2, most: 3, run: substring }],
  ['split', { least: 2, most: 2, run: split }],
  ['trim', trim('both')],
  ['ltrim', trim('left')],
  ['rtrim', trim('right')],
  ...['tolower', 'lower'].map((name) => [name, ofText((value) => value.toLowerCase())] as const),
  ...['toupper', 'upper'].map((name) => [name, ofText((value) => value.toUpperCase())] as const),
  ['tostring', conversion('toString', [...SCALARS, 'date', 'localdatetime', 'datetime'], toText)],
  ['tostringornull', one(toText)],
  ['tointeger', conversion('toInteger', SCALARS, toInteger)],
  ['tointegerornull', one(toInteger)],
  ['tofloat', conversion('toFloat', ['number', 'string'], toFloat)],
  ['tofloatornull', one(toFloat)],
  ['toboolean', conversion('toBoolean', SCALARS, (value) => (typeof value === 'number' ? mismatched('Boolean', value) : toBoolean(value)))],
  ['tobooleanornull', one(toBoolean)],
  ['date', temporal('date')],
  ['localdatetime', temporal('localdatetime')],
  ['datetime', temporal('datetime')],
  ['timestamp', { least: 0, most: 0, run: () => BigInt(Date.now()) }],
]); // biome-ignore format: one a line

function mismatched(expected: string, value: Value): never {
  throw typeMismatch(expected, value);
}

function right(value: string, count: number): string {
  const letters = [...value];
  return letters.slice(Math.max(0, letters.length - count)).join('');
}

/** The function of the name, for so many arguments. */
export function functionOf(name: string, count: number): (args: readonly Value[]) => Value {
  const found = FUNCTIONS.get(name);
  if (NEO4J_ONLY.has(name) || found === undefined)
    throw new CypherRefusedError(`The function ${name} is not supported by the embedded graph store.`);
  const { least, most, takesNull, run } = found;
  if (count < least || count > most)
    throw new QueryFailure(`${count < least ? 'Insufficient' : 'Too many'} parameters for function '${name}'`);
  return (args) => (!takesNull && args.includes(null) ? null : run(...args));
}
