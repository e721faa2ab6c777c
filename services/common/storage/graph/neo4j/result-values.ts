import neo4j from 'neo4j-driver';
import type { Json } from '../../../kernel/json.ts';
import { VIEW_KEY } from './schema.ts';

/**
 * A value of a query's result: nodes and relationships as their properties, a path as node, relation, node …, times as
 * ISO text, whole numbers beyond 2^53 as text.
 */
export function jsonOf(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (neo4j.isNode(value) || neo4j.isRelationship(value)) return objectOf(value.properties);
  if (neo4j.isPath(value)) {
    return [
      objectOf(value.start.properties),
      ...value.segments.flatMap(({ relationship, end }) => [relationship.type, objectOf(end.properties)]),
    ];
  }
  if (isPlain(value)) return objectOf(value);
  return String(value);
}

function objectOf(properties: object): Json {
  const entries = Object.entries(properties).filter(([key]) => key !== VIEW_KEY);
  return Object.fromEntries(entries.map(([key, value]) => [key, jsonOf(value)]));
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
