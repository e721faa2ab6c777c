import type { Fields } from './fields.ts';
import type { ScimFilter } from './filter.ts';
import { matchesFilter, valuesAt } from './match-filter.ts';

export interface ListRequest {
  readonly filter: ScimFilter | null;
  /** From 1. */
  readonly startIndex: number;
  /** 0 asks for the number of results alone. */
  readonly count: number;
  readonly sortBy: string | null;
  readonly isDescending: boolean;
}

/** The results and which of them are asked for. */
export interface ListedPage {
  readonly total: number;
  readonly startIndex: number;
  readonly resources: readonly Fields[];
}

/** RFC 7644 §3.4.2: filtered, sorted, one page. */
export function pageOf(resources: readonly Fields[], request: ListRequest): ListedPage {
  const { filter, startIndex, count, sortBy, isDescending } = request;
  const fitting = filter === null ? resources : resources.filter((resource) => matchesFilter(filter, resource));
  const sorted = sortBy === null ? fitting : fitting.toSorted((one, other) => compare(one, other, sortBy));
  const ordered = sortBy !== null && isDescending ? sorted.toReversed() : sorted;
  const from = Math.max(0, startIndex - 1);
  return { total: fitting.length, startIndex: from + 1, resources: ordered.slice(from, from + Math.max(0, count)) };
}

export function listResponse({ total, startIndex }: ListedPage, resources: readonly Fields[]) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** Resources without the attribute come last. */
function compare(one: Fields, other: Fields, path: string): number {
  const [left, right] = [sortKey(one, path), sortKey(other, path)];
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? 1 : -1;
  return left < right ? -1 : 1;
}

function sortKey(resource: Fields, path: string): string | null {
  const [value] = valuesAt(resource, path);
  return value === undefined || value === null ? null : String(value).toLowerCase();
}
