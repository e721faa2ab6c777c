import type { ServiceName } from '../../services/common/domain/service-paths.ts';
import { boundedName, GROUP, TENANT_LABEL } from '../api/names.ts';
import type { Tenant } from '../api/tenant.ts';

/** What answers in place of the services of a hibernated tenant. */
export const ACTIVATOR = 'asleep';

/** What brings the stores to the layout of another release before its services run. */
export const MIGRATION = 'migration';

export type Component = ServiceName | typeof ACTIVATOR | typeof MIGRATION;

/** Port of the processes. */
export const HTTP_PORT = 8000;

/** Label of that Secret: id of the tenant, by which another resource finds it after deletion with policy `Retain`. */
export const TENANT_ID_LABEL = `${GROUP}/tenant-id`;

/** Annotation of that Secret: `ownerUid` of the realm, which may be that of a resource before this one. */
export const REALM_OWNER = `${GROUP}/realm-owner`;

/** Annotation of pods: a hash of what they read from Secrets. */
export const SECRETS_ANNOTATION = 'checksum/secrets';

/** Annotation of that Secret, where it was restored: uid of the Tenant that had the realm before. */
export const FORMER_HOLDER = `${GROUP}/realm-former-holder`;

/** Name of the Secret with what the stores' administrators gave. */
export const SETTINGS = 'settings';

/** Begins with a letter whatever the tenant is called, as names of Services must. */
export function objectName({ metadata }: Pick<Tenant, 'metadata'>, part: string): string {
  return boundedName('tenant', metadata.name, part);
}

/** Apart by resource: a Tenant of the same name that comes later finds none of these by name. */
export function keysName({ metadata }: Pick<Tenant, 'metadata'>): string {
  return boundedName('tenant', metadata.name, 'keys', (metadata.uid ?? '').slice(0, 8));
}

/** Of everything that a Dedicated tenant runs. */
export function commonLabels({ metadata }: Pick<Tenant, 'metadata'>): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': 'engram-tenant', [TENANT_LABEL]: metadata.uid ?? '' };
}

/** What selects the pods of a component: never changes, Deployments would refuse it. */
export function selectorOf(tenant: Pick<Tenant, 'metadata'>, component: Component): Readonly<Record<string, string>> {
  return { ...commonLabels(tenant), 'app.kubernetes.io/component': component };
}
