import type { estypes } from '@elastic/elasticsearch';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { asRead, type EntryFilter, type Provenance } from '../../ports/index-entry.ts';
import type { RowSelection } from '../../ports/text-index.ts';

export type Query = estypes.QueryDslQueryContainer;

/** A `terms` query takes 65 536 words at most. */
const MAX_TERMS = 50_000;

export function ofDataset({ dataset }: DatasetScope): Query {
  return { term: { dataset } };
}

export function entryFilters(filter: Partial<EntryFilter>): Query[] {
  return [
    ...(filter.kind === undefined ? [] : [{ term: { kind: filter.kind } }]),
    ...(filter.items === undefined ? [] : [anyOf('item', filter.items)]),
    ...(filter.nodeSets === undefined ? [] : [anyOf('nodeSets', filter.nodeSets)]),
    ...(filter.withoutItems === undefined ? [] : [{ bool: { must_not: anyOf('item', [...filter.withoutItems]) } }]),
  ];
}

/** An empty list lets nothing through: no need to ask. */
export function letsNothingThrough({ items, nodeSets }: Partial<EntryFilter>): boolean {
  return items?.length === 0 || nodeSets?.length === 0;
}

/** The same for rows of the kind in this process. */
export function passing(
  scope: DatasetScope,
  query: EntryFilter,
): (row: Provenance & { readonly nodeSets: readonly string[] }) => boolean {
  const { items, nodeSets, withoutItems } = asRead(scope, query);
  const [some, sets] = [items && new Set<string>(items), nodeSets && new Set(nodeSets)];
  return (row) =>
    (some === undefined || some.has(row.item)) &&
    (sets === undefined || row.nodeSets.some((name) => sets.has(name))) &&
    withoutItems?.has(row.item) !== true;
}

export function selectedRows({ item, generation, beforeGeneration }: RowSelection): Query {
  const filter: Query[] = [{ term: { item } }];
  if (generation !== undefined) filter.push({ term: { generation } });
  if (beforeGeneration !== undefined) filter.push({ range: { generation: { lt: beforeGeneration } } });
  return { bool: { filter } };
}

export function anyOf(field: string, values: readonly string[]): Query {
  const distinct = [...new Set(values)];
  const parts: Query[] = [];
  for (const slice of slices(distinct, MAX_TERMS)) {
    parts.push({ terms: { [field]: [...slice] } });
  }
  return { bool: { should: parts, minimum_should_match: 1 } };
}
