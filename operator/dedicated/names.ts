import type { ServiceName } from '../../services/common/domain/service-paths.ts';
import { boundedName, GROUP, TENANT_LABEL } from '../api/names.ts';
import type { Tenant } from '../api/tenant.ts';

/** Component that answers in place of the services of a hibernated tenant. */
export const ACTIVATOR = 'asleep';

/** Component that migrates the stores before the services of another release run. */
export const MIGRATION = 'migration';

export type Component = ServiceName | typeof ACTIVATOR | typeof MIGRATION;

/** Container port of the services. */
export const HTTP_PORT = 8000;

/** Label of the Secret with the keys: id of the tenant, by which another Tenant finds it after a deletion with `Retain`. */
export const TENANT_ID_LABEL = `${GROUP}/tenant-id`;

/** Annotation of that Secret: `ownerUid` of the realm, which may be the uid of a former Tenant. */
export const REALM_OWNER = `${GROUP}/realm-owner`;

/** Annotation of pods: a hash of the Secrets that they read. */
export const SECRETS_ANNOTATION = 'checksum/secrets';

/** Annotation of a restored Secret: uid of the Tenant that had the realm before. */
export const FORMER_HOLDER = `${GROUP}/realm-former-holder`;

/** Part of the name of the Secret with the settings of the stores. */
export const SETTINGS = 'settings';

/** Name of an object of the tenant. Begins with a letter, as names of Services must. */
export function objectName({ metadata }: Tenant, part: string): string {
  return boundedName('tenant', metadata.name, part);
}

/** Name of the Secret with the keys. It contains the uid: a later Tenant of the same name has another one. */
export function keysName({ metadata }: Tenant): string {
  return boundedName('tenant', metadata.name, 'keys', (metadata.uid ?? '').slice(0, 8));
}

/** Labels of all objects of a Dedicated tenant. */
export function commonLabels({ metadata }: Tenant): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': 'engram-tenant', [TENANT_LABEL]: metadata.uid ?? '' };
}

/** Selector of the pods of a component. It must never change: selectors of Deployments are immutable. */
export function selectorOf(tenant: Tenant, component: Component): Readonly<Record<string, string>> {
  return { ...commonLabels(tenant), 'app.kubernetes.io/component': component };
}
