import { isDeepStrictEqual } from 'node:util';
import { checkEmailAddress } from '../../common/domain/email-address.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { ManagedResource } from '../../common/records/auth/managed-resources.ts';
import { beingErased, ownedByAnother } from '../../common/records/auth/require-managed.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError, type Write } from '../../common/storage/ports/document-store.ts';
import { tenantNotFound } from '../access/tenant-authority.ts';
import { createUser, isReservedAddress, passwordProblem } from '../accounts/account.ts';
import type { AuthDependencies } from '../model.ts';

/** The declaration of a resource, with the account of its owner. */
interface Declaration {
  readonly request: RequestOf<'auth.EnsureTenant'>;
  readonly hostNames: readonly string[];
  readonly owner: User;
  readonly isNewOwner: boolean;
}

/** Implements `auth.EnsureTenant`; proto/ has its rules and errors. */
export async function ensureTenant(
  deps: AuthDependencies,
  request: RequestOf<'auth.EnsureTenant'>,
): Promise<AnswerOf<'auth.EnsureTenant'>> {
  if (request.crUid === '') throw invalid('The resource has no uid.');
  if (request.displayName.trim() === '') throw invalid('The tenant has no name.');
  const email = ownerAddress(deps, request.ownerEmail);
  const hostNames = checkedHostNames(request.hostNames);
  let isNewOwner = false;
  // Repeated when another replica, another tenant with the host name or the owner was faster.
  return retryOnConflict(async () => {
    const found = await find(deps, request);
    // Checked before an account is created for it.
    await requireFreeNames(deps, hostNames, found.tenant);
    const { user: owner, isNew } = await declaredOwner(deps, email, request, found.tenant);
    isNewOwner ||= isNew;
    const declaration = { request, hostNames, owner, isNewOwner };
    if (found.tenant === null) return await create(deps, declaration, found.managed);
    return await correct(deps, declaration, { managed: found.managed, tenant: found.tenant });
  });
}

async function find(deps: AuthDependencies, request: RequestOf<'auth.EnsureTenant'>) {
  const { crUid, tenantId } = request;
  const managed = await deps.managedResources.byResource(crUid);
  if (managed !== null) {
    if (managed.dataset !== null) throw invalid('The resource manages a dataset.');
    if (managed.isErasing) throw beingErased(managed);
    if (tenantId !== undefined && asId(tenantId) !== managed.tenant) {
      throw invalid(`The resource already manages the tenant ${managed.tenant}.`);
    }
    return { managed, tenant: await deps.tenants.get(managed.tenant) };
  }
  if (tenantId === undefined) return { managed: null, tenant: null };
  const id = asId<TenantId>(tenantId);
  const tenant = isUuid(tenantId) ? await deps.tenants.get(id) : null;
  if (tenant === null) throw tenantNotFound(id);
  const thing = { tenant: id, dataset: null };
  if ((await deps.managedResources.of(thing)) !== null) throw ownedByAnother(thing);
  if (!mayAdopt(request, tenant)) {
    throw engramError('AdoptionNotAllowed', `No resource ${request.resource ?? ''} released the tenant ${id}.`);
  }
  return { managed: null, tenant };
}

/**
 * Whether the resource may adopt the tenant by its id: the tenant was released from this resource, or the resource is trusted
 * to adopt any.
 */
function mayAdopt({ resource, adoptsAny = false }: RequestOf<'auth.EnsureTenant'>, { releasedFrom }: Tenant): boolean {
  return adoptsAny || (resource !== undefined && resource === releasedFrom);
}

async function create(
  deps: AuthDependencies,
  { request, hostNames, owner, isNewOwner }: Declaration,
  managed: ManagedResource | null,
): Promise<AnswerOf<'auth.EnsureTenant'>> {
  const { tenants, memberships, users, eventLog, clock } = deps;
  const { crUid, displayName: name, state } = request;
  const sleep = declaredState(request, null, clock.now());
  const id = managed?.tenant ?? asId<TenantId>(deps.ids.uuid());
  const at = clock.now().toISOString();
  const isMember = await memberships.has(id, owner.id);
  const writes: Write[] = [
    managementWrite(deps, { managed, crUid, tenant: id }),
    tenants.insertWrite({ id, name, ownerId: owner.id, createdAt: at, ...sleep }),
    // An existing account stays in the tenant that it works in.
    isNewOwner ? users.replaceWrite({ ...owner, tenant: id }) : users.touchWrite(owner.id, { isActive: true }),
    ...(isMember ? [] : [memberships.insertWrite(id, owner.id, at)]),
    ...hostNames.map((host) => deps.tenantHosts.insertWrite(host, id)),
    ...eventLog.appendWrites({ tenant: id }, [
      { type: 'tenant.created', subjectId: id, data: { ownerId: owner.id } },
      ...(isMember ? [] : [{ type: 'membership.added', subjectId: owner.id, data: {} }]),
    ]),
  ];
  const details = { name, owner: owner.id, host_names: hostNames, state, resource: crUid };
  await deps.audit.commit({ tenant: id }, writes, [
    { tenant: id, action: 'tenant.created', actor: null, subject: id, details },
  ]);
  notifyOf(deps, id, owner);
  return { tenantId: id, ownerId: owner.id, created: true, corrected: [], isAsleep: false };
}

async function correct(
  deps: AuthDependencies,
  { request, hostNames, owner }: Declaration,
  { managed, tenant }: { readonly managed: ManagedResource | null; readonly tenant: Tenant },
): Promise<AnswerOf<'auth.EnsureTenant'>> {
  const { crUid, displayName: name } = request;
  const { id } = tenant;
  const sleep = declaredState(request, tenant, deps.clock.now());
  const { state } = sleep;
  if (tenant.state === 'Erasing') throw beingErased({ tenant: id, dataset: null });
  const present = await deps.tenantHosts.ofTenant(id);
  const added = hostNames.filter((host) => !present.includes(host));
  const removed = present.filter((host) => !hostNames.includes(host));
  const changes: Record<string, JsonObject> = {
    ...(managed === null ? { adopted: {} } : {}),
    ...(added.length + removed.length === 0 ? {} : { host_names: { added, removed } }),
    ...(tenant.name === name ? {} : { name: { before: tenant.name, after: name } }),
    ...(tenant.ownerId === owner.id ? {} : { owner: { before: tenant.ownerId, after: owner.id } }),
    ...(tenant.state === state ? {} : { state: { before: tenant.state, after: state } }),
  };
  // Hibernation after idleness is declared: it is no correction.
  const isHibernation = sleep.isAsleep || tenant.isAsleep;
  const corrected = Object.keys(changes).filter((field) => field !== 'state' || !isHibernation);
  const { isAsleep } = sleep;
  const answer = { tenantId: id, ownerId: owner.id, created: false, corrected: corrected.sort(), isAsleep };
  const isSame = Object.keys(changes).length === 0;
  if (isSame && isDeepStrictEqual(sleep, sleepOf(tenant))) return answer;
  const passing = tenant.ownerId === owner.id ? { writes: [], entries: [] } : await ownerChange(deps, tenant, owner);
  const writes: Write[] = [
    managementWrite(deps, { managed, crUid, tenant: id }),
    ...passing.writes,
    // A concurrent use or wake-up makes this commit conflict, so its time is not overwritten.
    ...(tenant.lastUsedAt === null ? [] : [deps.tenants.unusedWrite(tenant)]),
    deps.tenants.changeWrite(id, { name, ...sleep }),
    ...removed.map((host) => deps.tenantHosts.removeWrite(host)),
    ...added.map((host) => deps.tenantHosts.insertWrite(host, id)),
  ];
  const details = { ...changes, resource: crUid };
  const entry = { tenant: id, action: 'tenant.changed', actor: null, subject: id, details };
  // The time of the last use is not audited.
  if (isSame) await deps.store.commit({ tenant: id }, writes);
  else await deps.audit.commit({ tenant: id }, writes, [entry, ...passing.entries]);
  notifyOf(deps, id, owner);
  return answer;
}

type Sleep = Pick<Tenant, 'state' | 'hibernation' | 'lastUsedAt' | 'isAsleep'>;

function sleepOf({ state, hibernation, lastUsedAt, isAsleep }: Tenant): Sleep {
  return { state, hibernation, lastUsedAt, isAsleep };
}

/** The state of the tenant: the declared one, or hibernated when an active tenant was idle for long enough. */
function declaredState(
  { state, hibernation, wake }: RequestOf<'auth.EnsureTenant'>,
  tenant: Tenant | null,
  now: Date,
): Sleep {
  if (state !== 'Active' || hibernation === undefined) {
    return { state, hibernation: null, lastUsedAt: null, isAsleep: false };
  }
  const known = wake === true ? null : (tenant?.lastUsedAt ?? null);
  const lastUsedAt = known ?? now.toISOString();
  const isAsleep = now.getTime() - Date.parse(lastUsedAt) >= hibernation.afterIdleMs;
  return { state: isAsleep ? 'Hibernated' : 'Active', hibernation, lastUsedAt, isAsleep };
}

/** Writes of a change of the owner; the previous owner stays a member. */
async function ownerChange(
  { tenants, users, memberships, eventLog, clock }: AuthDependencies,
  tenant: Tenant,
  { id: successor }: User,
): Promise<{ readonly writes: readonly Write[]; readonly entries: readonly AuditEntry[] }> {
  const isMember = await memberships.has(tenant.id, successor);
  const reassigned = { type: 'tenant.reassigned', subjectId: tenant.id, data: { ownerId: successor } };
  const joined = { type: 'membership.added', subjectId: successor, data: {} };
  return {
    writes: [
      tenants.transferWrite(tenant, successor),
      users.touchWrite(successor, { isActive: true }),
      ...(isMember ? [] : [memberships.insertWrite(tenant.id, successor, clock.now().toISOString())]),
      ...eventLog.appendWrites({ tenant: tenant.id }, isMember ? [reassigned] : [joined, reassigned]),
    ],
    entries: isMember ? [] : [{ tenant: tenant.id, action: 'membership.added', actor: null, subject: successor }],
  };
}

function managementWrite(
  { managedResources, clock }: AuthDependencies,
  {
    managed,
    crUid,
    tenant,
  }: { readonly managed: ManagedResource | null; readonly crUid: string; readonly tenant: TenantId },
): Write {
  if (managed !== null) return managedResources.keepWrite(managed);
  const since = clock.now().toISOString();
  return managedResources.insertWrite({ crUid, tenant, dataset: null, isErasing: false, since });
}

function notifyOf({ notify }: AuthDependencies, tenant: TenantId, owner: User): void {
  notify.tenantChanged(tenant);
  notify.userChanged(owner.id);
}

function checkedHostNames(given: readonly string[]): readonly string[] {
  const names = given.map((text) => {
    const name = checkHostName(text);
    if (name === null) throw invalid(`${JSON.stringify(text.slice(0, 100))} is not a host name.`);
    return name;
  });
  return [...new Set(names)].sort();
}

async function requireFreeNames({ tenantHosts }: AuthDependencies, names: readonly string[], tenant: Tenant | null) {
  for (const name of names) {
    const holder = await tenantHosts.tenantOf(name);
    if (holder !== null && holder !== tenant?.id) {
      throw engramError('HostnameConflict', `The host name ${name} belongs to another tenant.`);
    }
  }
}

function invalid(message: string) {
  return engramError('InvalidRequestError', message);
}

/** The hashes that the hasher verifies: argon2id in PHC format, and bcrypt. */
const PASSWORD_HASH = /^\$(?:argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[\w+/]+\$[\w+/]+|2[aby]\$\d\d\$[\w./]{53})$/;

/** The normalised address. `InvalidRequestError` for an invalid or reserved one. */
function ownerAddress({ settings }: AuthDependencies, text: string): string {
  const { address, reason } = checkEmailAddress(text);
  if (address === undefined) throw invalid(`The owner's e-mail address cannot be used. ${reason}`);
  if (isReservedAddress(settings, address)) throw invalid("The owner's e-mail address is reserved.");
  return address;
}

/**
 * Returns the account with the address, and creates it if there is none: the operator vouches for the address. An existing
 * account must have verified it, or own the tenant. Errors: `OwnerUnverified`, `ConflictError` for an inactive account,
 * `InvalidRequestError` without a password for a new account.
 */
async function declaredOwner(
  deps: AuthDependencies,
  email: string,
  request: RequestOf<'auth.EnsureTenant'>,
  tenant: Tenant | null,
) {
  const existing = await deps.users.findByEmail(email);
  if (existing === null) return createOwner(deps, email, request);
  if (tenant?.ownerId === existing.id) return { user: existing, isNew: false };
  if (!existing.isActive) throw engramError('ConflictError', "The owner's account is inactive.");
  if (existing.isVerified) return { user: existing, isNew: false };
  throw engramError(
    'OwnerUnverified',
    "The owner's e-mail address has an account that has not proved it: verify the address, or name another one.",
  );
}

async function createOwner(deps: AuthDependencies, email: string, request: RequestOf<'auth.EnsureTenant'>) {
  const passwordHash = await passwordHashOf(deps, request);
  try {
    const user = await createUser(deps, { email, passwordHash, isSuperuser: false, isVerified: true }, null, {
      writes: () => [],
      details: { resource: request.crUid },
    });
    return { user, isNew: true };
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) throw error;
    throw engramError('ConflictError', "The owner's account is being created.", { retryable: true, cause: error });
  }
}

async function passwordHashOf(
  { passwords, settings }: AuthDependencies,
  { ownerPasswordHash, ownerPassword }: RequestOf<'auth.EnsureTenant'>,
): Promise<string> {
  if (ownerPasswordHash !== undefined) {
    if (PASSWORD_HASH.test(ownerPasswordHash)) return ownerPasswordHash;
    throw invalid('The password hash of the owner is neither argon2id nor bcrypt.');
  }
  if (ownerPassword === undefined) throw invalid("The owner's account is new and needs a password.");
  const reason = passwordProblem(ownerPassword, settings);
  if (reason !== null) throw invalid(`The owner's password cannot be used. ${reason}`);
  return passwords.hash(ownerPassword);
}

/** RFC 1123 label. Names must be fully qualified: `localhost` and IP addresses are not accepted. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_LENGTH = 253;

/** The normalised host name: lower case, without final dot. Null for an invalid one. */
function checkHostName(text: string): string | null {
  const name = text.trim().toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  if (name.length > MAX_LENGTH || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null;
  // An IPv4 address has no letter in its last label.
  return /[a-z]/.test(labels.at(-1) ?? '') ? name : null;
}
