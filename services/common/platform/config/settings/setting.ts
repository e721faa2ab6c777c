import type { z } from 'zod';
import * as type from '../value-types.ts';

/** One variable that this build uses. */
export interface Setting<Value = unknown> {
  /** The name, then older or foreign spellings; the first that is set wins. An empty value counts as unset. */
  readonly names: readonly [string, ...string[]];
  readonly section: Section;
  readonly type: z.ZodType<Value>;
  /** Default as text. Absent: the value is `undefined` when the variable is unset. Secrets have none. */
  readonly default?: string;
  /** Default in the documentation, where an absent one stands for more than "unset". */
  readonly shownDefault?: string;
  readonly meaning: string;
  readonly secret?: boolean;
  /** Ignoring it would leave the server more open than meant: a misspelling of its name is an error, not a warning. */
  readonly protects?: boolean;
}

export const SECTIONS = [
  'Server',
  'Stores',
  'Cluster',
  'Access',
  'Mail',
  'Requests',
  'Models',
  'Runs',
  'Sessions',
  'Improve',
  'Integrations',
  'Budgets',
  'Operator',
] as const;
type Section = (typeof SECTIONS)[number];

type Names = string | readonly [string, ...string[]];
type Row<Value> = Omit<Setting<Value>, 'names' | 'section'>;

/** Makes the rows of one section. */
export function rowsOf(section: Section) {
  const named = (names: Names) => ({
    section,
    names: typeof names === 'string' ? ([names] as const) : names,
  });
  /** A row whose variable has a default. */
  const setting = <Value>(names: Names, row: Row<Value> & { readonly default: string }) => ({
    ...named(names),
    ...row,
  });
  /** A row whose value is undefined while its variable is unset. */
  const optional = <Value>(names: Names, row: Omit<Row<Value>, 'default'>): Setting<Value> => ({
    ...named(names),
    ...row,
  });
  return {
    setting,
    optional,
    text: (names: Names, meaning: string) => optional(names, { type: type.text(), meaning }),
    secret: (names: Names, meaning: string) => optional(names, { type: type.text(), meaning, secret: true }),
    address: (names: Names, meaning: string) => optional(names, { type: type.httpUrl(), meaning }),
    flag: (names: Names, otherwise: 'true' | 'false', meaning: string) =>
      setting(names, { type: type.flag(), default: otherwise, meaning }),
  };
}
