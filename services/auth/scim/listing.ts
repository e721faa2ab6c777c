import type { Fields } from './fields.ts';
import { matchesFilter, type ScimFilter, valuesAt } from './filter.ts';

export interface ListRequest {
  readonly filter: ScimFilter | null;
  /** Starts at 1. */
  readonly startIndex: number;
  /** 0: only the number of results. */
  readonly count: number;
  readonly sortBy: string | null;
  readonly isDescending: boolean;
}

/** The number of matching items, and one page of them. */
export interface ListedPage<Item> {
  readonly total: number;
  readonly startIndex: number;
  readonly items: readonly Item[];
}

/** Filters, sorts and pages (RFC 7644 §3.4.2). `resourceOf` is called only when the filter or the sorting needs it. */
export function pageOf<Item>(
  items: readonly Item[],
  request: ListRequest,
  resourceOf: (item: Item) => Fields,
): ListedPage<Item> {
  const { filter, startIndex, count, sortBy, isDescending } = request;
  const fitting = filter === null ? items : items.filter((item) => matchesFilter(filter, resourceOf(item)));
  const sorted = sortBy === null ? fitting : sortedBy(fitting, (item) => sortKey(resourceOf(item), sortBy));
  const ordered = sortBy !== null && isDescending ? sorted.toReversed() : sorted;
  const from = Math.max(0, startIndex - 1);
  return { total: fitting.length, startIndex: from + 1, items: ordered.slice(from, from + Math.max(0, count)) };
}

export function listResponse({ total, startIndex }: Omit<ListedPage<unknown>, 'items'>, resources: readonly Fields[]) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** Resources without the attribute come last. */
function sortedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): readonly Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  keyed.sort(({ key: left }, { key: right }) => {
    if (left === right) return 0;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right ? -1 : 1;
  });
  return keyed.map(({ item }) => item);
}

function sortKey(resource: Fields, path: string): string | null {
  const [value] = valuesAt(resource, path);
  return value === undefined || value === null ? null : String(value).toLowerCase();
}

export interface AttributeSelection {
  /** Only these attributes; empty: all. */
  readonly attributes: readonly string[];
  readonly excludedAttributes: readonly string[];
}

/** Always returned (RFC 7643 §7, `returned: always`). */
const ALWAYS = ['schemas', 'id'];

/** Selects attributes (RFC 7644 §3.9) as a whole: `name.givenName` selects all of `name`. */
export function selectAttributes(resource: Fields, { attributes, excludedAttributes }: AttributeSelection): Fields {
  if (attributes.length === 0 && excludedAttributes.length === 0) return resource;
  const wanted = attributes.map(attributeName);
  const excluded = excludedAttributes.map(attributeName);
  const isGiven = (name: string): boolean => {
    if (ALWAYS.includes(name)) return true;
    const lower = name.toLowerCase();
    return attributes.length > 0 ? wanted.includes(lower) : !excluded.includes(lower);
  };
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isGiven(name)));
}

export function isSelected(name: string, { attributes, excludedAttributes }: AttributeSelection): boolean {
  const lower = name.toLowerCase();
  if (attributes.length > 0) return attributes.map(attributeName).includes(lower);
  return !excludedAttributes.map(attributeName).includes(lower);
}

function attributeName(path: string): string {
  const lower = path.trim().toLowerCase();
  if (!lower.startsWith('urn:')) return lower.split('.', 1)[0] ?? lower;
  const core = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):([^.]+)/.exec(lower);
  if (core?.[1] !== undefined) return core[1];
  // An attribute of an extension selects the whole extension.
  return lower.replace(/(:2\.0:[a-z]+):.*$/, '$1');
}
