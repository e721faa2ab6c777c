export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value } | Resolver;
/** A connection of GraphQL: its nodes with the arguments of the field. */
export type Resolver = (args: Record<string, unknown>) => Value;
type Selection = readonly {
  alias: string;
  name: string;
  args: Record<string, unknown>;
  fields: Selection | null;
}[];

/** A field or value that a server of GraphQL refuses. */
export class GraphqlFault extends Error {
  readonly type: string;
  readonly code: string;
  constructor(message: string, type: string, code: string) {
    super(message);
    this.type = type;
    this.code = code;
  }
}

/** Fields of a GraphQL document, with aliases and the values of arguments. */
export function parseGraphql(text: string, variables: Record<string, unknown>): Selection {
  const tokens: readonly string[] = text.match(/\.{3}|[A-Za-z_]\w*|\$\w+|\d+|[{}():!]/g) ?? [];
  let at = tokens.indexOf('{');
  const value = (): unknown => {
    const token = tokens[at] ?? '';
    at += 1;
    if (token === '{') return pairs('}');
    if (token.startsWith('$')) return variables[token.slice(1)];
    return /^\d+$/.test(token) ? Number(token) : token === 'true' ? true : token === 'false' ? false : token;
  };
  /** Names with values, up to a bracket. */
  const pairs = (end: string): Record<string, unknown> => {
    const given: Record<string, unknown> = {};
    while (tokens[at] !== end) {
      const name = tokens[at] ?? '';
      at += 2;
      given[name] = value();
    }
    at += 1;
    return given;
  };
  const args = (): Record<string, unknown> => {
    if (tokens[at] !== '(') return {};
    at += 1;
    return pairs(')');
  };
  const selection = (): Selection => {
    const fields: { alias: string; name: string; args: Record<string, unknown>; fields: Selection | null }[] = [];
    for (at += 1; tokens[at] !== '}'; ) {
      // `... on Type`: the type is taken for granted.
      if (tokens[at] === '...') {
        at += 3;
        fields.push(...selection());
        continue;
      }
      const alias = tokens[at] ?? '';
      at += 1;
      let name = alias;
      if (tokens[at] === ':') {
        name = tokens[at + 1] ?? '';
        at += 2;
      }
      const given = args();
      fields.push({ alias, name, args: given, fields: tokens[at] === '{' ? selection() : null });
    }
    at += 1;
    return fields;
  };
  return selection();
}

/** What was asked for of a value; a field that it has not is refused. */
export function selectGraphql(value: Value | Record<string, Resolver>, fields: Selection): Value {
  const given: Record<string, Value> = {};
  for (const { alias, name, args, fields: inner } of fields) {
    const field = (value as Record<string, Value>)[name];
    if (field === undefined)
      throw new GraphqlFault(`Cannot query field "${name}"`, 'GraphqlError', 'GRAPHQL_VALIDATION_FAILED');
    const resolved = typeof field === 'function' ? field(args) : field;
    if (inner === null || resolved === null) given[alias] = resolved;
    else if (Array.isArray(resolved)) given[alias] = resolved.map((one: Value) => selectGraphql(one, inner));
    else given[alias] = selectGraphql(resolved, inner);
  }
  return given;
}

/** Points of a query as Linear counts them: 0.1 for a value, 1 for an object, those of a connection for each of its nodes. */
export function complexityOf(fields: Selection): number {
  const points = (of: Selection): number =>
    of.reduce((sum, { args, fields: inner }) => {
      if (inner === null) return sum + 0.1;
      const isConnection = inner.some(({ name }) => name === 'nodes');
      return sum + (isConnection ? Number(args['first'] ?? 50) * points(inner) : 1 + points(inner));
    }, 0);
  return Math.ceil(points(fields));
}
