/**
 * `Hibernated`: asleep until somebody declares otherwise; what asks is told to come again later. `Disabled`: refused.
 * `Erasing`: on its way out, which nothing stops any more.
 */
export const TENANT_STATES = ['Active', 'Hibernated', 'Disabled', 'Erasing'] as const;
export type TenantState = (typeof TENANT_STATES)[number];
