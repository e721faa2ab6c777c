import { compareText } from '../../kernel/compare-text.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { majorityType, typeWeight } from './entity-type.ts';

/** Statement of one generation of one item about a node; a `NodeEvidence` of the graph store is one. */
interface NodeStatement {
  readonly id: string;
  readonly item: string;
  readonly generation: number;
  readonly type: string;
  readonly name: string;
  readonly mentions: number;
  readonly nodeSets: readonly string[];
  /**
   * `description` (text) and `aliases` (texts) are merged; `entityType` goes by the mentions weighted with their
   * `typeCertainty`, or of those that an ontology confirms; `isKeyword` holds when every row says so; of any other key the most mentioned value wins.
   */
  readonly properties: JsonObject;
}

export interface MergedNode<Row extends NodeStatement = NodeStatement> {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  /** '' when no evidence has one. */
  readonly description: string;
  /** Other names, sorted. */
  readonly aliases: readonly string[];
  /** Sorted. */
  readonly nodeSets: readonly string[];
  readonly mentions: number;
  /** Without `description`, `aliases` and `typeCertainty`. */
  readonly properties: JsonObject;
  /** Most mentions first. */
  readonly evidence: readonly Row[];
}

/** Statement of one generation of one item about an edge; an `EdgeEvidence` of the graph store is one. */
interface EdgeStatement {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  readonly item: string;
  readonly generation: number;
  readonly weight: number;
  readonly properties: JsonObject;
}

export interface MergedEdge<Row extends EdgeStatement = EdgeStatement> {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  /** Sum over the evidence. */
  readonly weight: number;
  /** Properties of the heaviest evidence. */
  readonly properties: JsonObject;
  /** Heaviest first. */
  readonly evidence: readonly Row[];
}

/**
 * One node per id, in the order of first appearance. The result does not depend on the order of the evidence of a node:
 * type by majority of mentions, name the most mentioned surface (the longest on a tie), the longest description.
 * Give it visible evidence only (`common/records/cognify/ledger.ts`).
 */
export function mergeNodes<Row extends NodeStatement>(rows: readonly Row[]): readonly MergedNode<Row>[] {
  return groupBy(rows, (row) => row.id).map(mergeNode);
}

/** One edge per (source, relation, target), in the order of first appearance. */
export function mergeEdges<Row extends EdgeStatement>(rows: readonly Row[]): readonly MergedEdge<Row>[] {
  return groupBy(rows, (row) => JSON.stringify([row.source, row.relation, row.target])).map((group) => {
    const evidence = group.toSorted((a, b) => b.weight - a.weight || compareOrigins(a, b));
    const { source, relation, target, properties } = first(evidence);
    return { source, relation, target, weight: sum(evidence.map((row) => row.weight)), properties, evidence };
  });
}

function mergeNode<Row extends NodeStatement>(group: readonly Row[]): MergedNode<Row> {
  const evidence = group.toSorted((a, b) => b.mentions - a.mentions || compareOrigins(a, b));
  const name = mostMentioned(evidence, (row) => row.name);
  const aliases = evidence.flatMap((row) => [row.name, ...texts(row.properties['aliases'])]);
  const descriptions = evidence.flatMap((row) => texts([row.properties['description']]));
  return {
    id: first(evidence).id,
    type: mostMentioned(evidence, (row) => row.type),
    name,
    description: descriptions.toSorted(longestFirst)[0] ?? '',
    aliases: distinctSorted(aliases.filter((alias) => alias !== name && alias !== '')),
    nodeSets: distinctSorted(evidence.flatMap((row) => row.nodeSets)),
    mentions: sum(evidence.map((row) => row.mentions)),
    properties: mergeProperties(name, evidence),
    evidence,
  };
}

/** The value whose rows have most mentions; on a tie the longest, then the first in the alphabet. */
function mostMentioned<Row extends NodeStatement>(rows: readonly Row[], pick: (row: Row) => string): string {
  const mentions = new Map<string, number>();
  for (const row of rows) mentions.set(pick(row), (mentions.get(pick(row)) ?? 0) + row.mentions);
  return first([...mentions].sort((a, b) => b[1] - a[1] || longestFirst(a[0], b[0])))[0];
}

const MERGED_APART = new Set(['description', 'aliases', 'typeCertainty']);

function mergeProperties(name: string, evidence: readonly NodeStatement[]): JsonObject {
  const merged = new Map<string, JsonObject[string]>();
  for (const { properties } of evidence) {
    for (const [key, value] of Object.entries(properties)) {
      if (MERGED_APART.has(key) || value === undefined || value === null) continue;
      if (!merged.has(key)) merged.set(key, value);
    }
  }
  const entityType = mergeEntityType(name, evidence);
  if (entityType !== null) merged.set('entityType', entityType);
  if (!evidence.every(({ properties }) => properties['isKeyword'] === true)) merged.delete('isKeyword');
  return Object.fromEntries(merged);
}

function mergeEntityType(name: string, evidence: readonly NodeStatement[]): string | null {
  const weights = new Map<string, number>();
  const valid = evidence.filter(({ properties }) => properties['ontologyValid'] === true);
  for (const { properties, mentions } of valid.length > 0 ? valid : evidence) {
    const { entityType: type, typeCertainty } = properties;
    if (typeof type !== 'string') continue;
    const certainty = typeof typeCertainty === 'number' ? typeCertainty : undefined;
    weights.set(type, (weights.get(type) ?? 0) + typeWeight({ name, type, mentions, certainty }));
  }
  return weights.size === 0 ? null : majorityType(weights);
}

function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly (readonly Row[])[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length || compareText(a, b);
}

function compareOrigins(
  a: { readonly item: string; readonly generation: number },
  b: { readonly item: string; readonly generation: number },
): number {
  return compareText(a.item, b.item) || a.generation - b.generation;
}

function distinctSorted(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort(compareText);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function first<T>(values: readonly T[]): T {
  const value = values[0];
  if (value === undefined) throw new RangeError('Nothing to merge');
  return value;
}
