/**
 * `Hibernated`: asleep until its declaration changes or, where it sleeps because it was idle, until the next request;
 * what asks is told to come again later. `Disabled`: refused.
 * `Erasing`: on its way out, which nothing stops any more.
 */
const TENANT_STATES = ['Active', 'Hibernated', 'Disabled', 'Erasing'] as const;
export type TenantState = (typeof TENANT_STATES)[number];

/** Automatic hibernation of a tenant, and what ends it. */
export type TenantHibernation = {
  /** Without a request and without a run. */
  readonly afterIdleMs: number;
  /** The next request wakes it; else it must be declared active. */
  readonly wakesOnRequest: boolean;
};
