import type { Parser } from './parser.ts';
import type { Expression, LabelExpression, MapEntries, NodePattern, Pattern, RelationshipPattern } from './syntax.ts';

type Path = Omit<Pattern, 'name'>;

/** A comma-separated list of patterns, as in MATCH. */
export function patternList(parser: Parser): readonly Pattern[] {
  const patterns = [pattern(parser)];
  while (parser.reader.takeSign(',')) patterns.push(pattern(parser));
  return patterns;
}

/** `[p =] path`, or a shortest path. */
export function pattern(parser: Parser): Pattern {
  const { reader } = parser;
  const isNamed = reader.isSign('=', 1);
  const name = isNamed ? reader.name() : null;
  if (isNamed) reader.expectSign('=');
  return { name, ...(shortestPath(parser) ?? path(parser, 0)) };
}

/** Null when something else stands here. */
export function shortestPath(parser: Parser): Path | null {
  const { reader } = parser;
  const shortest = (['shortestPath', 'allShortestPaths'] as const).find((word) => reader.isWord(word.toUpperCase()));
  if (shortest === undefined || !reader.isSign('(', 1)) return null;
  reader.take();
  reader.expectSign('(');
  const inner = path(parser, 1);
  reader.expectSign(')');
  if (inner.relationships.length > 1) reader.refuse(`${shortest} takes one relationship.`);
  return { ...inner, shortest };
}

/** Nodes joined by at least so many relationships. */
export function path(parser: Parser, atLeast: number): Path {
  const nodes = [node(parser)];
  const relationships: RelationshipPattern[] = [];
  while (startsRelationship(parser)) {
    relationships.push(relationship(parser));
    nodes.push(node(parser));
  }
  if (relationships.length < atLeast) parser.reader.refuse();
  return { shortest: null, nodes, relationships };
}

function node(parser: Parser): NodePattern {
  const { reader } = parser;
  return reader.nested(() => {
    reader.expectSign('(');
    const { hops: _, ...result } = element(parser, () => null);
    reader.expectSign(')');
    return result;
  });
}

function relationship(parser: Parser): RelationshipPattern {
  const { reader } = parser;
  const pointsLeft = reader.takeSign('<');
  reader.expectSign('-');
  const isDetailed = reader.takeSign('[');
  const detail = isDetailed ? element(parser, hops) : ANY_RELATIONSHIP;
  if (isDetailed) reader.expectSign(']');
  reader.expectSign('-');
  return { ...detail, pointsLeft, pointsRight: reader.takeSign('>') };
}

const ANY_RELATIONSHIP = { name: null, labels: null, hops: null, properties: null, where: null };

/** Content of the brackets of a node or a relationship. */
function element(parser: Parser, readHops: (parser: Parser) => RelationshipPattern['hops']) {
  const { reader } = parser;
  const isNamed = (reader.peek().kind === 'name' || reader.peek().kind === 'quoted') && !startsWhere(parser);
  return {
    name: isNamed ? reader.name() : null,
    labels: reader.takeSign(':') ? labelExpression(parser, true) : null,
    hops: readHops(parser),
    properties: reader.isSign('{') ? mapEntries(parser) : null,
    where: where(parser),
  };
}

/** `*`, `*2`, `*1..3`, `*..3`, `*1..` */
function hops(parser: Parser): RelationshipPattern['hops'] {
  const { reader } = parser;
  if (!reader.takeSign('*')) return null;
  const bound = () => (reader.peek().kind === 'number' ? wholeNumber(parser) : null);
  const least = bound();
  return { least, most: reader.takeSign('..') ? bound() : least };
}

/** A label, type, or a combination of them; alternatives (`A|B`) only where a bar can mean nothing else. */
export function labelExpression(parser: Parser, hasAlternatives: boolean): LabelExpression {
  const { reader } = parser;
  return reader.nested(() => {
    const conjunctions = [labelConjunction(parser)];
    while (hasAlternatives && reader.takeSign('|')) {
      // `:A|:B` is an older way to write `:A|B`.
      reader.takeSign(':');
      conjunctions.push(labelConjunction(parser));
    }
    return joined('or', conjunctions);
  });
}

function labelConjunction(parser: Parser): LabelExpression {
  const { reader } = parser;
  const labels = [labelAtom(parser)];
  while (reader.takeSign('&') || reader.takeSign(':')) labels.push(labelAtom(parser));
  return joined('and', labels);
}

function joined(kind: 'and' | 'or', of: readonly LabelExpression[]): LabelExpression {
  return of.length === 1 ? (of[0] as LabelExpression) : { kind, of };
}

function labelAtom(parser: Parser): LabelExpression {
  const { reader } = parser;
  return reader.nested(() => {
    if (reader.takeSign('!')) return { kind: 'not', of: labelAtom(parser) };
    if (reader.takeSign('%')) return { kind: 'any' };
    if (!reader.takeSign('(')) return { kind: 'name', name: reader.name() };
    const inner = labelExpression(parser, true);
    reader.expectSign(')');
    return inner;
  });
}

export function mapEntries(parser: Parser): MapEntries {
  const { reader } = parser;
  reader.expectSign('{');
  const entries: (readonly [string, Expression])[] = [];
  while (!reader.isSign('}')) {
    if (entries.length > 0) reader.expectSign(',');
    const key = reader.name();
    reader.expectSign(':');
    entries.push([key, parser.expression()]);
  }
  reader.expectSign('}');
  return entries;
}

/** The optional condition of a pattern or a clause. */
export function where(parser: Parser): Expression | null {
  return parser.reader.takeWord('WHERE') ? parser.expression() : null;
}

export function wholeNumber({ reader }: Parser): number {
  const { kind, text } = reader.take();
  if (kind !== 'number' || !/^\d{1,9}$/.test(text)) reader.refuse('A whole number is needed here.');
  return Number(text);
}

function startsRelationship({ reader }: Parser): boolean {
  const dash = reader.isSign('<') ? 1 : 0;
  return reader.isSign('-', dash) && (reader.isSign('-', dash + 1) || reader.isSign('[', dash + 1));
}

/** A node or relationship without a name but with a condition. */
function startsWhere({ reader }: Parser): boolean {
  return reader.isWord('WHERE') && reader.peek(1).kind !== 'sign';
}
