import type { z } from 'zod';

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
export type Section = (typeof SECTIONS)[number];

type WithDefault<Value> = Setting<Value> & { readonly default: string };

/** A row whose variable has a default. */
export function setting<Value>(row: WithDefault<Value>): WithDefault<Value> {
  return row;
}

/** A row whose value is undefined while its variable is unset. */
export function optional<Value>(row: Omit<Setting<Value>, 'default'>): Setting<Value> {
  return row;
}
