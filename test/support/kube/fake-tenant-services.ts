import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { TenantServices } from '../../../operator/tenant/services.ts';
import { BUDGET_KINDS, type BudgetKind, type BudgetLimits } from '../../../services/common/domain/budget.ts';
import type { ServiceName } from '../../../services/common/domain/service-paths.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type {
  EnsureTenantRequest,
  SetTenantEmbeddingRequest,
  SetTenantModelRequest,
} from '../../../services/common/platform/messaging/methods/auth-managed.ts';
import type { ProbeModelResponse } from '../../../services/common/platform/messaging/methods/cognify-managed.ts';
import type {
  CheckIsolationRequest,
  CheckIsolationResponse,
  ErasureProgress,
} from '../../../services/common/platform/messaging/methods/ingest-managed.ts';

export interface HeldTenant {
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
  model: SetTenantModelRequest['languageModel'] | undefined;
  embedding?: SetTenantEmbeddingRequest['embedding'] | undefined;
  retention?: { readonly sessionsMs: number | undefined; readonly eventsMs: number | undefined };
  /** Nobody used it for as long as it may be asked for. */
  isIdle: boolean;
  readonly used: Partial<Record<BudgetKind, number>>;
}

type MethodName = keyof TenantServices;

/** The services as the operator sees them, in memory, with whatever faults a test asks for. */
export interface FakeTenantServices extends TenantServices {
  readonly calls: readonly { readonly method: MethodName; readonly request: unknown }[];
  readonly tenants: Map<string, HeldTenant>;
  /** Addresses of accounts that have a password. */
  readonly accounts: Map<string, { readonly id: string; readonly password: string }>;
  sick: readonly ServiceName[];
  /** What a provider says of a key; by default it takes all. */
  probeAnswer: ProbeModelResponse;
  /** What `eraseTenant` answers, one after the other; then it is erased. */
  erasureAnswers: ErasureProgress[];
  /** What a look for canaries says; by default that all is well. */
  isolationAnswer: ((request: CheckIsolationRequest) => CheckIsolationResponse) | null;
  /** A tenant that no resource manages. */
  addTenant(id: string): HeldTenant;
  /** Called before an answer, to change the world in the middle. */
  before: Partial<Record<MethodName, () => void | Promise<void>>>;
  fail(method: MethodName, error: Error, times?: number): void;
  heal(): void;
  countOf(method: MethodName): number;
}

export const unavailable = (): Error => engramError('ServiceUnavailableError', 'Nobody answers.', { retryable: true });

export function createFakeTenantServices(): FakeTenantServices {
  const calls: { method: MethodName; request: unknown }[] = [];
  const tenants = new Map<string, HeldTenant>();
  const accounts = new Map<string, { id: string; password: string }>();
  const receipts = new Map<string, string>();
  /** Uids of resources whose tenant is being erased or was. */
  const erasing = new Set<string>();
  const erased: HeldTenant[] = [];
  let faults: { method: MethodName; error: Error; left: number }[] = [];

  async function note(method: MethodName, request: unknown): Promise<void> {
    calls.push({ method, request: structuredClone(request) });
    await fake.before[method]?.();
    const fault = faults.find((each) => each.method === method && each.left > 0);
    if (fault !== undefined) {
      fault.left -= 1;
      throw fault.error;
    }
  }

  function ofResource(tenantId: string, crUid: string): HeldTenant {
    const tenant = tenants.get(tenantId);
    if (tenant === undefined) throw engramError('TenantNotFoundError', `Tenant ${tenantId} not found`);
    if (tenant.crUid !== crUid) throw engramError('OwnedByAnother', 'Another resource manages it.');
    return tenant;
  }

  function accountOf({ ownerEmail, ownerPassword }: EnsureTenantRequest): string {
    const held = accounts.get(ownerEmail);
    if (held !== undefined) return held.id;
    if (ownerPassword === undefined) throw engramError('InvalidRequestError', 'A new account needs a password.');
    const account = { id: randomUUID(), password: ownerPassword };
    accounts.set(ownerEmail, account);
    return account.id;
  }

  const fake: FakeTenantServices = {
    calls,
    tenants,
    accounts,
    sick: [],
    probeAnswer: { outcome: 'accepted', detail: '' },
    erasureAnswers: [],
    isolationAnswer: null,
    before: {},
    fail: (method, error, times = 1) => void faults.push({ method, error, left: times }),
    heal() {
      faults = [];
    },
    addTenant(id) {
      const tenant: HeldTenant = {
        ...{ id, crUid: null, name: 'Old', ownerId: 'somebody', ownerEmail: '', state: 'Active', hostNames: [] },
        ...{ keys: new Map(), limits: {}, model: undefined, isIdle: false, used: {} },
      };
      tenants.set(id, tenant);
      return tenant;
    },
    countOf: (name) => calls.filter(({ method }) => method === name).length,

    async ensureTenant(request) {
      await note('ensureTenant', request);
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
        ...{ id: randomUUID(), crUid, name: displayName, ownerId, ownerEmail, state, hostNames },
        ...{ keys: new Map(), limits: {}, model: undefined, isIdle: false, used: {} },
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
      return { tenantId: asId(tenant.id), ownerId: asId(ownerId), created: held === undefined, corrected, isAsleep };
    },
    async setTenantKeys(request) {
      await note('setTenantKeys', request);
      const tenant = ofResource(request.tenantId, request.crUid);
      const before = tenant.keys.get(request.name) ?? [];
      if (request.keySha256.length === 0) tenant.keys.delete(request.name);
      else tenant.keys.set(request.name, request.keySha256);
      const added = request.keySha256.filter((hash) => !before.includes(hash)).length;
      return { added, removed: before.filter((hash) => !request.keySha256.includes(hash)).length };
    },
    async setTenantModel(request) {
      await note('setTenantModel', request);
      const tenant = ofResource(request.tenantId, request.crUid);
      const changed = !isDeepStrictEqual(tenant.model, request.languageModel);
      tenant.model = request.languageModel;
      return { changed };
    },
    async setTenantEmbedding(request) {
      await note('setTenantEmbedding', request);
      const tenant = ofResource(request.tenantId, request.crUid);
      const changed = !isDeepStrictEqual(tenant.embedding, request.embedding);
      tenant.embedding = request.embedding;
      return { changed };
    },
    async probeModel(request) {
      await note('probeModel', request);
      return fake.probeAnswer;
    },
    async setQuota(request) {
      await note('setQuota', request);
      const tenant = tenants.get(request.tenant);
      if (tenant === undefined) throw engramError('TenantNotFoundError', 'No tenant.');
      tenant.limits = request.limits;
    },
    async usage(request) {
      await note('usage', request);
      const tenant = tenants.get(request.tenant);
      if (tenant === undefined) throw engramError('TenantNotFoundError', 'No tenant.');
      return BUDGET_KINDS.map((kind) => {
        const { limit = null, action } = tenant.limits[kind] ?? {};
        return { kind, used: tenant.used[kind] ?? 0, limit, warnsOnly: action === 'Warn' };
      });
    },
    async setRetention(request) {
      await note('setRetention', request);
      const { sessionsMs, eventsMs } = request;
      ofResource(request.tenantId, request.crUid).retention = { sessionsMs, eventsMs };
    },
    async eraseTenant(request) {
      await note('eraseTenant', request);
      const { tenantId, crUid } = request;
      const receipt = receipts.get(tenantId) ?? JSON.stringify({ tenant: tenantId, signature: 'of-the-fake' });
      if (!receipts.has(tenantId)) {
        const held = ofResource(tenantId, crUid);
        erasing.add(crUid);
        const next = fake.erasureAnswers.shift();
        if (next !== undefined) return next;
        erased.push(held);
        tenants.delete(tenantId);
        receipts.set(tenantId, receipt);
      }
      return { erased: true, step: '', removed: {}, residue: 0, receipt, failure: null };
    },
    async checkIsolation(request) {
      await note('checkIsolation', request);
      const answer = { unproven: null, comparedTenantIds: request.otherTenantIds, leaks: [] };
      return fake.isolationAnswer?.(request) ?? answer;
    },
    async removeCanary(request) {
      await note('removeCanary', request);
      ofResource(request.tenantId, request.crUid);
      return { removed: true };
    },
    async findManaged(request) {
      await note('findManaged', request);
      const held = [...tenants.values(), ...erased].find(({ crUid }) => crUid === request.crUid);
      if (held === undefined) return null;
      return { tenantId: asId(held.id), datasetId: null, isErasing: erasing.has(request.crUid) };
    },
    async releaseTenant(request) {
      await note('releaseTenant', request);
      const tenant = ofResource(request.tenantId, request.crUid);
      if (erasing.has(request.crUid)) throw engramError('ConflictError', 'The tenant is being erased.');
      tenant.crUid = null;
      return { released: true };
    },
    async unhealthy() {
      return fake.sick;
    },
  };
  return fake;
}
