/**
 * The functions a query may call, lower-cased; none of them looks anything up. Not here on purpose: whatever has a
 * namespace (procedures' functions, `db.…`, `graph.…`), `id` and `elementId` (numbers shared by all datasets), `reduce`,
 * `replace` and the like, which let a short query build a text or list that does not fit into the server.
 */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  `abs all any avg ceil coalesce collect count date datetime duration e endnode exists exp floor head isempty keys
  labels last left length localdatetime localtime log log10 lower ltrim max min nodes none nullif percentilecont
  percentiledisc pi properties range relationships reverse right round rtrim sign single size split sqrt startnode
  stdev stdevp substring sum tail time timestamp toboolean tobooleanornull tofloat tofloatornull tointeger tointegerornull
  tolower tostring tostringornull toupper trim type upper`.split(/\s+/),
);

/** Read with a variable of their own: `any(x IN list WHERE …)`. */
export const QUANTIFIERS: ReadonlySet<string> = new Set(['all', 'any', 'none', 'single']);

const MAX_PATTERN_LENGTH = 200;
const MAX_REPETITIONS = 2;
const MAX_GROUPS = 3;

/**
 * Whether the server surely matches the regular expression in a time that the length of the text bounds well: a match
 * cannot be interrupted, so one of exponential cost would outlive every time limit.
 */
export function isHarmlessPattern(pattern: string): boolean {
  const body = pattern.replace(/^\(\?[ismu]+\)/, '').replaceAll(/\\[^0-9kpPQE]|\[[^[\]&\\]*\]/g, 'x');
  const count = (part: RegExp) => body.match(part)?.length ?? 0;
  return (
    pattern.length <= MAX_PATTERN_LENGTH &&
    !/[{}\\[\]]|\(\?|\)[*+?]|[*+?][*+]/.test(body) &&
    count(/[*+]/g) <= MAX_REPETITIONS &&
    count(/\?/g) <= MAX_GROUPS &&
    count(/\(/g) <= MAX_GROUPS
  );
}
