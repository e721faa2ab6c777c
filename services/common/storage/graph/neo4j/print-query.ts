import { parseQuery } from '../../cypher/parse-query.ts';
import type {
  Clause,
  Expression,
  LabelExpression,
  MapEntries,
  NodePattern,
  Pattern,
  Projection,
  RelationshipPattern,
  SingleQuery,
} from '../../cypher/syntax.ts';

/** Label of every node of the view, see `schema.ts`. */
export const VIEW_LABEL = '__Node__';
/** Property of the view that no query's result shows. */
export const VIEW_KEY = '_ref';

/** A query that can be run: it reads, and only nodes that bear the label. */
export interface TranslatedQuery {
  readonly statement: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Columns as the query's author calls them; null for `RETURN *`. */
  readonly columns: readonly string[] | null;
}

/**
 * Reads a query and prints it again with `label` on every node. Nothing of the query's own text is passed on unread, so
 * there is no gap between what is checked and what the server reads. Throws `CypherRefusedError`.
 */
export function translateQuery(query: string, label: string, maxRows: number): TranslatedQuery {
  const { parts, isDistinct } = parseQuery(query);
  const parameters: Record<string, string> = {};
  const printer = createPrinter(label, (text) => {
    const name = `p${Object.keys(parameters).length}`;
    parameters[name] = text;
    return `$${name}`;
  });
  const statements = parts.map((part) => printer.singleQuery(part, maxRows));
  const [first] = parts;
  const columns = !first || first.result.hasAll ? null : first.result.items.map(({ name }) => name);
  return { statement: statements.join(isDistinct ? ' UNION ' : ' UNION ALL '), parameters, columns };
}

/**
 * `parameter` takes the texts of the query: nothing that its author wrote in quotes is printed. Expressions are printed fully
 * bracketed: none can be taken for a pattern, whose nodes would lack the label.
 */
function createPrinter(label: string, parameter: (text: string) => string) {
  function singleQuery({ clauses, result }: SingleQuery, maxRows: number): string {
    return [...clauses.map(clauseText), `RETURN ${projection(result, false)}${limits(result, maxRows)}`].join(' ');
  }

  function clauseText(clause: Clause): string {
    switch (clause.kind) {
      case 'match':
        return `${clause.isOptional ? 'OPTIONAL ' : ''}MATCH ${patternList(clause.patterns)}${where(clause.where)}`;
      case 'unwind':
        return `UNWIND ${expression(clause.list)} AS ${quoted(clause.name)}`;
      case 'with':
        return `WITH ${projection(clause, true)}${limits(clause, null)}${where(clause.where)}`;
    }
  }

  function projection({ isDistinct, hasAll, items, order }: Projection, keepsNames: boolean): string {
    const values = items.map(({ value, name }) => {
      const text = expression(value);
      return keepsNames && text === quoted(name) ? text : `${text} AS ${quoted(name)}`;
    });
    const keys = order.map(({ value, isDescending }) => expression(value) + (isDescending ? ' DESC' : ''));
    const sorted = keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`;
    return (isDistinct ? 'DISTINCT ' : '') + [...(hasAll ? ['*'] : []), ...values].join(', ') + sorted;
  }

  /** SKIP and LIMIT; one row above `most` is requested, which says that there are more. */
  function limits({ skip, limit }: Projection, most: number | null): string {
    const counts = [limit, most === null ? null : most + 1].filter((count) => count !== null);
    return (skip === null ? '' : ` SKIP ${skip}`) + (counts.length === 0 ? '' : ` LIMIT ${Math.min(...counts)}`);
  }

  function patternList(patterns: readonly Pattern[]): string {
    return patterns.map(pattern).join(', ');
  }

  function pattern({ name, shortest, nodes, relationships }: Pattern): string {
    const parts = nodes.map((one, index) => {
      const next = relationships[index];
      return node(one) + (next === undefined ? '' : relationship(next));
    });
    const path = shortest === null ? parts.join('') : `${shortest}(${parts.join('')})`;
    return name === null ? path : `${quoted(name)} = ${path}`;
  }

  /**
   * Every node of a query is printed here and bears the label of the dataset; this is what keeps a query in its dataset.
   * Whatever else a query can hold (relationships, inner nodes of a path, ends of a relationship) it reaches from such a
   * node, and relationships of the view never leave a dataset.
   */
  function node({ name, labels, properties, where: condition }: NodePattern): string {
    const more = labels === null ? '' : `&(${labelExpression(labels)})`;
    return `(${name === null ? '' : quoted(name)}:${quoted(label)}${more}${map(properties)}${where(condition)})`;
  }

  function relationship(one: RelationshipPattern): string {
    const { name, labels, hops, properties, where: condition, pointsLeft, pointsRight } = one;
    const types = labels === null ? '' : `:${labelExpression(labels)}`;
    const detail = `${name === null ? '' : quoted(name)}${types}${range(hops)}${map(properties)}${where(condition)}`;
    return `${pointsLeft ? '<' : ''}-${detail === '' ? '' : `[${detail}]`}-${pointsRight ? '>' : ''}`;
  }

  function range(hops: RelationshipPattern['hops']): string {
    if (hops === null) return '';
    const { least, most } = hops;
    return least === null && most === null ? '*' : `*${least ?? ''}..${most ?? ''}`;
  }

  function map(properties: MapEntries | null): string {
    return properties === null ? '' : ` ${mapLiteral(properties)}`;
  }

  function mapLiteral(entries: MapEntries): string {
    return `{${entries.map(([key, value]) => `${quoted(key)}: ${expression(value)}`).join(', ')}}`;
  }

  function where(condition: Expression | null): string {
    return condition === null ? '' : ` WHERE ${expression(condition)}`;
  }

  function expression(one: Expression): string {
    switch (one.kind) {
      case 'literal':
        return typeof one.value === 'string' ? parameter(one.value) : one.text;
      case 'variable':
        return quoted(one.name);
      case 'property':
        return `${expression(one.of)}.${quoted(one.key)}`;
      case 'index':
        return `${expression(one.of)}[${expression(one.at)}]`;
      case 'slice':
        return `${expression(one.of)}[${bound(one.from)}..${bound(one.to)}]`;
      case 'hasLabels':
        // The "true" keeps it from looking like a node.
        return `(true AND ${expression(one.of)}:${labelExpression(one.labels)})`;
      case 'list':
        return `[${one.items.map(expression).join(', ')}]`;
      case 'map':
        return mapLiteral(one.entries);
      case 'mapProjection': {
        const entries = one.entries.map((entry) => {
          if (entry.kind === 'all') return '.*';
          return entry.kind === 'property'
            ? `.${quoted(entry.key)}`
            : `${quoted(entry.key)}: ${expression(entry.value)}`;
        });
        return `${quoted(one.of)} {${entries.join(', ')}}`;
      }
      case 'unary':
        return one.operator.startsWith('IS')
          ? `(${expression(one.of)} ${one.operator})`
          : `(${one.operator} ${expression(one.of)})`;
      case 'binary':
        return `(${expression(one.left)} ${one.operator} ${expression(one.right)})`;
      case 'comparison':
        return `(${expression(one.first)}${one.rest.map(([sign, right]) => ` ${sign} ${expression(right)}`).join('')})`;
      case 'case': {
        const subject = one.subject === null ? '' : ` ${expression(one.subject)}`;
        const branches = one.branches.map(([when, then]) => ` WHEN ${expression(when)} THEN ${expression(then)}`);
        const otherwise = one.otherwise === null ? '' : ` ELSE ${expression(one.otherwise)}`;
        return `CASE${subject}${branches.join('')}${otherwise} END`;
      }
      case 'call':
        return call(one);
      case 'listComprehension': {
        const result = one.result === null ? '' : ` | ${expression(one.result)}`;
        return `[${quoted(one.variable)} IN ${expression(one.list)}${where(one.where)}${result}]`;
      }
      case 'quantifier':
        return `${one.name}(${quoted(one.variable)} IN ${expression(one.list)}${where(one.where)})`;
      case 'patternComprehension':
        return `[${pattern(one.pattern)}${where(one.where)} | ${expression(one.result)}]`;
      case 'pattern':
        return pattern(one.pattern);
      case 'subquery':
        return `${one.word} { MATCH ${patternList(one.patterns)}${where(one.where)} }`;
    }
  }

  function bound(one: Expression | null): string {
    return one === null ? '' : expression(one);
  }

  function call({ name, isDistinct, args }: Extract<Expression, { kind: 'call' }>): string {
    const text = args === null ? '*' : (isDistinct ? 'DISTINCT ' : '') + args.map(expression).join(', ');
    // The label of the dataset is internal.
    if (name === 'labels') return `[x IN labels(${text}) WHERE NOT x IN ['${VIEW_LABEL}', '${label}']]`;
    if (name === 'keys') return `[x IN keys(${text}) WHERE x <> '${VIEW_KEY}']`;
    return `${name}(${text})`;
  }

  return { singleQuery };
}

function labelExpression(labels: LabelExpression): string {
  switch (labels.kind) {
    case 'name':
      return quoted(labels.name);
    case 'any':
      return '%';
    case 'not':
      return `!${labelOperand(labels.of)}`;
    case 'and':
      return labels.of.map(labelOperand).join('&');
    case 'or':
      return labels.of.map(labelOperand).join('|');
  }
}

/** In brackets where it is more than a name. */
function labelOperand(labels: LabelExpression): string {
  const text = labelExpression(labels);
  return labels.kind === 'and' || labels.kind === 'or' ? `(${text})` : text;
}

/** Names hold no back-tick: `tokens.ts` refuses them. */
function quoted(name: string): string {
  return `\`${name}\``;
}
