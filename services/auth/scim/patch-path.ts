import { parseFilter, type ScimFilter } from './filter.ts';
import { findAttribute, findExtension, type ScimAttribute, type ScimResourceType } from './schema.ts';
import { scimError } from './scim-error.ts';

/** What a path of a PATCH operation points at (RFC 7644 §3.5.2). */
export interface PatchTarget {
  /** Id of the extension that the attribute is nested under; null for an attribute of the resource itself. */
  readonly extension: string | null;
  readonly attribute: ScimAttribute;
  /** Which of its values. */
  readonly filter: ScimFilter | null;
  readonly sub: ScimAttribute | null;
}

const PATH = /^([\w$-]+)(?:\[(.*)\])?(?:\.([\w$-]+))?$/s;

/** `whole` for the id of an extension alone. 400 `invalidPath` for what is no path, or of no attribute. */
export function parsePath(
  type: ScimResourceType,
  text: string,
): PatchTarget | { readonly whole: string; readonly attributes: readonly ScimAttribute[] } {
  const { attributes, extension, rest } = splitSchema(type, text.trim());
  if (rest === '' && extension !== null) return { whole: extension, attributes };
  const [, name = '', filter, subName] = PATH.exec(rest) ?? [];
  const attribute = findAttribute(attributes, name);
  if (attribute === undefined) throw invalidPath(text);
  const sub = subName === undefined ? null : (findAttribute(attribute.subAttributes ?? [], subName) ?? null);
  if (subName !== undefined && sub === null) throw invalidPath(text);
  if (filter !== undefined && attribute.multiValued === undefined) throw invalidPath(text);
  return { extension, attribute, filter: filter === undefined ? null : parseFilter(filter), sub };
}

function splitSchema(type: ScimResourceType, text: string) {
  const { schema } = type;
  if (text.toLowerCase().startsWith(`${schema.id.toLowerCase()}:`)) {
    return { attributes: schema.attributes, extension: null, rest: text.slice(schema.id.length + 1) };
  }
  const extension = findExtension(type, text);
  if (extension === undefined) return { attributes: schema.attributes, extension: null, rest: text };
  return { attributes: extension.attributes, extension: extension.id, rest: text.slice(extension.id.length + 1) };
}

export function invalidPath(text: string) {
  return scimError(400, `There is no attribute at the path '${text.slice(0, 200)}'.`, 'invalidPath');
}
