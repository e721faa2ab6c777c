import type { Fields } from './fields.ts';

export interface AttributeSelection {
  /** Only these; empty: all. */
  readonly attributes: readonly string[];
  readonly excludedAttributes: readonly string[];
}

/** Returned whatever is asked for (RFC 7643 §7, `returned: always`). */
const ALWAYS = ['schemas', 'id'];

/** RFC 7644 §3.9, by whole attributes: of `name.givenName` all of `name` is given. */
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
  // An attribute of an extension: the extension is given as a whole.
  return lower.replace(/(:2\.0:[a-z]+):.*$/, '$1');
}
