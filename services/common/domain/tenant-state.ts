/**
 * `Hibernated`: asleep, until somebody declares otherwise or, where it sleeps because nobody used it, until somebody asks;
 * what asks is told to come again later. `Disabled`: refused.
 * `Erasing`: on its way out, which nothing stops any more.
 */
const TENANT_STATES = ['Active', 'Hibernated', 'Disabled', 'Erasing'] as const;
export type TenantState = (typeof TENANT_STATES)[number];

/** When a tenant goes to sleep by itself, and what wakes it. */
export type TenantHibernation = {
  /** Without a request and without a run. */
  readonly afterIdleMs: number;
  /** The next request wakes it; else somebody has to declare it. */
  readonly wakesOnRequest: boolean;
};
