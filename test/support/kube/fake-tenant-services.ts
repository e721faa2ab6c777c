import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { BUDGET_KINDS, type BudgetKind, type BudgetLimits } from '../../../services/common/domain/budget.ts';
import type { TenantId, UserId } from '../../../services/common/kernel/brand.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { AnswerOf, ErasureProgress, RequestOf } from '../../../services/common/platform/messaging/messages.ts';
import type { Serve } from './fake-services.ts';

interface HeldTenant {
  readonly id: string;
  crUid: string | null;
  name: string;
  ownerId: string;
  ownerEmail: string;
  state: string;
  hostNames: readonly string[];
  /** Name of the key → hashes that are valid. */
  readonly keys: Map<string, readonly string[]>;
  limits: BudgetLimits;
  model: RequestOf<'auth.SetTenantModel'>['languageModel'] | undefined;
  embedding?: RequestOf<'auth.SetTenantEmbedding'>['embedding'] | undefined;
  retention?: { readonly sessionsMs: number | undefined; readonly eventsMs: number | undefined };
  /** Unused for any time. */
  isIdle: boolean;
  readonly used: Partial<Record<BudgetKind, number>>;
}

/** Tenants as the services hold them. */
export interface FakeTenants {
  readonly tenants: Map<string, HeldTenant>;
  /** Addresses of accounts that have a password. */
  readonly accounts: Map<string, { readonly id: string; readonly password: string }>;
  /** Answer of a probe. Default: accepted. */
  probeAnswer: AnswerOf<'cognify.ProbeModel'>;
  /** Next answers of an erasure; then it is complete. */
  erasureAnswers: ErasureProgress[];
  /** Answer of an isolation check. Default: verified. */
  isolationAnswer: ((request: RequestOf<'ingest.CheckIsolation'>) => AnswerOf<'ingest.CheckIsolation'>) | null;
  /** A tenant that no resource manages. */
  addTenant(id: string): HeldTenant;
  /** What the services answer about a resource; null: it manages no tenant. */
  managedBy(crUid: string): AnswerOf<'auth.FindManaged'>['managed'];
  keep(request: RequestOf<'ingest.SetRetention'>): void;
}

export function serveTenants(serve: Serve): FakeTenants {
  const tenants = new Map<string, HeldTenant>();
  const accounts = new Map<string, { id: string; password: string }>();
  const receipts = new Map<string, string>();
  /** Uids of resources whose tenant is being erased or was. */
  const erasing = new Set<string>();
  const erased: HeldTenant[] = [];

  function ofResource(tenantId: string, crUid: string): HeldTenant {
    const tenant = tenants.get(tenantId);
    if (tenant === undefined) throw engramError('TenantNotFoundError', `Tenant ${tenantId} not found`);
    if (tenant.crUid !== crUid) throw engramError('OwnedByAnother', 'Another resource manages it.');
    return tenant;
  }

  function accountOf({ ownerEmail, ownerPassword }: RequestOf<'auth.EnsureTenant'>): string {
    const held = accounts.get(ownerEmail);
    if (held !== undefined) return held.id;
    if (ownerPassword === undefined) throw engramError('InvalidRequestError', 'A new account needs a password.');
    const account = { id: randomUUID(), password: ownerPassword };
    accounts.set(ownerEmail, account);
    return account.id;
  }

  const fake: FakeTenants = {
    tenants,
    accounts,
    probeAnswer: { outcome: 'accepted', detail: '' },
    erasureAnswers: [],
    isolationAnswer: null,
    addTenant(id) {
      const tenant: HeldTenant = {
        id,
        crUid: null,
        name: 'Old',
        ownerId: 'somebody',
        ownerEmail: '',
        state: 'Active',
        hostNames: [],
        keys: new Map(),
        limits: {},
        model: undefined,
        isIdle: false,
        used: {},
      };
      tenants.set(id, tenant);
      return tenant;
    },
    keep({ tenantId, crUid, sessionsMs, eventsMs }) {
      ofResource(tenantId, crUid).retention = { sessionsMs, eventsMs };
    },
    managedBy(uid) {
      const held = [...tenants.values(), ...erased].find(({ crUid }) => crUid === uid);
      if (held === undefined) return null;
      return { tenantId: asId(held.id), datasetId: null, isErasing: erasing.has(uid) };
    },
  };

  serve('auth.EnsureTenant', (request) => {
    const { crUid, tenantId, displayName, ownerEmail, state, hostNames } = request;
    const held = [...tenants.values()].find((tenant) => tenant.crUid === crUid) ?? tenants.get(tenantId ?? '');
    if (held === undefined && tenantId !== undefined) throw engramError('TenantNotFoundError', 'No such tenant.');
    if (held?.crUid != null && held.crUid !== crUid)
      throw engramError('OwnedByAnother', 'Another resource manages it.');
    for (const other of tenants.values()) {
      if (other !== held && hostNames.some((name) => other.hostNames.includes(name))) {
        throw engramError('HostnameConflict', 'The host name is taken.');
      }
    }
    const ownerId = accountOf(request);
    const tenant: HeldTenant = held ?? {
      id: randomUUID(),
      crUid,
      name: displayName,
      ownerId,
      ownerEmail,
      state,
      hostNames,
      keys: new Map(),
      limits: {},
      model: undefined,
      isIdle: false,
      used: {},
    };
    tenants.set(tenant.id, tenant);
    if (request.wake === true) tenant.isIdle = false;
    const isAsleep = state === 'Active' && request.hibernation !== undefined && tenant.isIdle;
    const wanted = { name: displayName, ownerId, state: isAsleep ? 'Hibernated' : state };
    const corrected: string[] = [];
    if (tenant.crUid === null) corrected.push('adopted');
    if (tenant.hostNames.join() !== hostNames.join()) corrected.push('host_names');
    for (const field of ['name', 'state', 'ownerId'] as const)
      if (tenant[field] !== wanted[field] && !isAsleep) corrected.push(field);
    Object.assign(tenant, { ...wanted, hostNames, crUid });
    return {
      tenantId: asId<TenantId>(tenant.id),
      ownerId: asId<UserId>(ownerId),
      created: held === undefined,
      corrected,
      isAsleep,
    };
  });
  serve('auth.SetTenantKeys', (request) => {
    const tenant = ofResource(request.tenantId, request.crUid);
    const before = tenant.keys.get(request.name) ?? [];
    if (request.keySha256.length === 0) tenant.keys.delete(request.name);
    else tenant.keys.set(request.name, request.keySha256);
    const added = request.keySha256.filter((hash) => !before.includes(hash)).length;
    return { added, removed: before.filter((hash) => !request.keySha256.includes(hash)).length };
  });
  serve('auth.SetTenantModel', (request) => {
    const tenant = ofResource(request.tenantId, request.crUid);
    const changed = !isDeepStrictEqual(tenant.model, request.languageModel);
    tenant.model = request.languageModel;
    return { changed };
  });
  serve('auth.SetTenantEmbedding', (request) => {
    const tenant = ofResource(request.tenantId, request.crUid);
    const changed = !isDeepStrictEqual(tenant.embedding, request.embedding);
    tenant.embedding = request.embedding;
    return { changed };
  });
  serve('cognify.ProbeModel', () => fake.probeAnswer);
  serve('auth.SetQuota', (request) => {
    const tenant = tenants.get(request.tenant);
    if (tenant === undefined) throw engramError('TenantNotFoundError', 'No tenant.');
    tenant.limits = request.limits;
    return {};
  });
  serve('auth.Usage', (request) => {
    const tenant = tenants.get(request.tenant);
    if (tenant === undefined) throw engramError('TenantNotFoundError', 'No tenant.');
    const all = BUDGET_KINDS.map((kind) => {
      const { limit = null, action } = tenant.limits[kind] ?? {};
      return { kind, used: tenant.used[kind] ?? 0, limit, warnsOnly: action === 'Warn' };
    });
    return { usage: all };
  });
  serve('ingest.EraseTenant', (request) => {
    const { tenantId, crUid } = request;
    const receipt = receipts.get(tenantId) ?? JSON.stringify({ tenant: tenantId, signature: 'of-the-fake' });
    if (!receipts.has(tenantId)) {
      const held = ofResource(tenantId, crUid);
      erasing.add(crUid);
      const next = fake.erasureAnswers.shift();
      if (next !== undefined) return { progress: next };
      erased.push(held);
      tenants.delete(tenantId);
      receipts.set(tenantId, receipt);
    }
    return { progress: { erased: true, step: '', removed: {}, residue: 0, receipt, failure: null } };
  });
  serve('ingest.CheckIsolation', (request) => {
    const answer = { unproven: null, comparedTenantIds: request.otherTenantIds, leaks: [] };
    return fake.isolationAnswer?.(request) ?? answer;
  });
  serve('ingest.RemoveCanary', (request) => {
    ofResource(request.tenantId, request.crUid);
    return { removed: true };
  });
  serve('auth.ReleaseTenant', (request) => {
    const tenant = ofResource(request.tenantId, request.crUid);
    if (erasing.has(request.crUid)) throw engramError('ConflictError', 'The tenant is being erased.');
    tenant.crUid = null;
    return { released: true };
  });
  return fake;
}
