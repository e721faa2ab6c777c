import type { Scope } from '../../../kernel/scope.ts';

/**
 * Names of objects: `<prefix><tenant>/datasets/<dataset>/<key>!`, of a tenant's own blobs `<prefix><tenant>/own/<key>!`.
 *
 * They stay readable, sort as their keys do (a listing is one request per page), and suit servers that keep objects as
 * files: no `.` or `../..` segment, and no object whose name is also the folder of another. `!` ends a name, being lower than
 * what a key may go on with: a space is written `!0`, a `!` is written `!1`. A segment's first dot is followed by `_`. U+FFFE
 * and U+FFFF, which XML cannot hold, are written as U+FFFD and a digit.
 */
const END = '!';
const ESCAPES: readonly (readonly [string, string])[] = [
  ['!', '!1'],
  [' ', '!0'],
  ['\ufffd', '\ufffd0'],
  ['\ufffe', '\ufffd1'],
  ['\uffff', '\ufffd2'],
];

/** Everything of the tenant, or of the dataset when there is one. */
export function ownedNames(prefix: string, scope: Scope): string {
  return scope.dataset === undefined ? tenantPlace(prefix, scope) : placeOf(prefix, scope);
}

/** Prefix of the names of exactly the scope. */
export function placeOf(prefix: string, scope: Scope): string {
  const tenant = tenantPlace(prefix, scope);
  return scope.dataset === undefined ? `${tenant}own/` : `${tenant}datasets/${escaped(scope.dataset)}/`;
}

export function nameOf(prefix: string, scope: Scope, key: string): string {
  return placeOf(prefix, scope) + escaped(key) + END;
}

/** Prefix of the names of keys that begin with `keyPrefix`. */
export function namePrefixOf(prefix: string, scope: Scope, keyPrefix: string): string {
  return placeOf(prefix, scope) + escaped(keyPrefix);
}

/** Null for an object below the scope's place that is no blob of ours. */
export function keyOf(place: string, name: string): string | null {
  if (!name.startsWith(place) || !/[^/]!$/.test(name)) return null;
  const key = unescaped(name.slice(place.length, -END.length));
  return place + escaped(key) + END === name ? key : null;
}

/** Stands right before the name in a listing, and after every lower one. */
export function justBefore(name: string): string {
  return name.slice(0, -END.length);
}

function tenantPlace(prefix: string, { tenant }: Scope): string {
  return `${prefix}${escaped(tenant)}/`;
}

function escaped(text: string): string {
  const written = ESCAPES.reduce((result, [plain, sequence]) => result.replaceAll(plain, sequence), text);
  return written.replace(/(^|\/)\./g, '$1._');
}

function unescaped(text: string): string {
  const plainOf = (sequence: string) => ESCAPES.find((each) => each[1] === sequence)?.[0] ?? sequence;
  return text.replace(/(^|\/)\._/g, '$1.').replace(/[!\ufffd]./g, plainOf);
}
