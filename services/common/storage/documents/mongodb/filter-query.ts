import type { Document } from 'mongodb';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Condition, Filter, Scalar } from '../../ports/document-store.ts';
import { requireQueryable } from '../rules/collection-rules.ts';
import { conditionsOf } from '../rules/filter.ts';
import { indexValue } from '../rules/ordering.ts';
import { nextAfterPrefix } from '../rules/prefix.ts';
import type { Reach } from '../rules/reach.ts';
import { type BsonValue, bsonValue, type CollectionLayout, pathOf } from './document-layout.ts';

/** Everything a scope and a filter ask for, as terms that must all hold. */
export function whereTerms(layout: CollectionLayout, reach: Reach, filter: Filter<JsonObject>): readonly Document[] {
  const terms = [...reachTerms(layout, reach)];
  for (const [field, condition] of conditionsOf(filter)) {
    requireQueryable(layout.rules, field);
    terms.push(...conditionTerms(pathOf(field), condition));
  }
  return terms;
}

export function allOf(terms: readonly Document[]): Document {
  const [first] = terms;
  if (first === undefined) return {};
  return terms.length === 1 ? first : { $and: terms };
}

/**
 * A scope that names no tenant still says that there is one: indexes are led by the tenant, and the server uses one only
 * for a query that says something about its first field. It then skips from tenant to tenant.
 */
export function reachTerms({ owners }: CollectionLayout, reach: Reach): readonly Document[] {
  const [first] = owners;
  if (first !== undefined && reach.tenant === undefined) return [{ tenant: { $gte: '' } }];
  return owners.flatMap((owner) => {
    const value = reach[owner];
    return value === undefined ? [] : [{ [owner]: value }];
  });
}

function conditionTerms(path: string, condition: Condition): readonly Document[] {
  const terms: Document[] = [];
  const add = (term: Document) => terms.push({ [path]: term });
  if (condition.equals !== undefined) add({ $eq: toBson(condition.equals) });
  if (condition.in !== undefined) add({ $in: condition.in.map(toBson) });
  if (condition.notEquals !== undefined) add({ $ne: toBson(condition.notEquals) });
  if (condition.exists !== undefined) add(condition.exists ? { $ne: null } : { $eq: null });
  if (condition.prefix !== undefined) add(startsWith(condition.prefix.toWellFormed()));
  // The server holds a range to values of its bound's type.
  if (condition.greaterThan !== undefined) add({ $gt: toBson(condition.greaterThan) });
  if (condition.atLeast !== undefined) add({ $gte: toBson(condition.atLeast) });
  if (condition.lessThan !== undefined) add({ $lt: toBson(condition.lessThan) });
  if (condition.atMost !== undefined) add({ $lte: toBson(condition.atMost) });
  return terms;
}

function startsWith(prefix: string): Document {
  const end = nextAfterPrefix(prefix);
  return end === null ? { $gte: prefix } : { $gte: prefix, $lt: end };
}

function toBson(value: Scalar): BsonValue | null {
  const indexed = indexValue(value);
  return indexed === null ? null : bsonValue(indexed);
}
