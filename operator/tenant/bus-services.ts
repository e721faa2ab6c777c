import { randomUUID } from 'node:crypto';
import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import type { CallContext, Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { setQuota, usage } from '../../services/common/platform/messaging/methods/auth.ts';
import {
  ensureTenant,
  findManaged,
  releaseTenant,
  setTenantEmbedding,
  setTenantKeys,
  setTenantModel,
} from '../../services/common/platform/messaging/methods/auth-managed.ts';
import { probeModel } from '../../services/common/platform/messaging/methods/cognify-managed.ts';
import {
  checkIsolation,
  eraseTenant,
  removeCanary,
  setRetention,
} from '../../services/common/platform/messaging/methods/ingest-managed.ts';
import { serviceHealth } from '../../services/common/platform/messaging/methods/system.ts';
import type { Clock } from '../../services/common/ports/system.ts';
import type { TenantServices } from './services.ts';

export interface BusServicesOptions {
  readonly messenger: Pick<Messenger, 'call'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Thousands of tenants ask after the same six services. */
const HEALTH_AGE_MS = 5000;

/** The services over the bus. */
export function createBusServices({ messenger, clock }: BusServicesOptions): TenantServices {
  let health: { readonly at: number; readonly unhealthy: Promise<readonly ServiceName[]> } | undefined;

  const isHealthy = async (name: ServiceName): Promise<boolean> => {
    try {
      const { status } = await messenger.call(serviceHealth(name), {}, { requestId: randomUUID() });
      return status !== 'unhealthy';
    } catch {
      // Whatever it is: it does not answer as a healthy one does.
      return false;
    }
  };
  const askAll = async (): Promise<readonly ServiceName[]> => {
    const answers = await Promise.all(SERVICE_NAMES.map(isHealthy));
    return SERVICE_NAMES.filter((_, at) => answers[at] === false).toSorted();
  };

  return {
    ensureTenant: (request, signal) => messenger.call(ensureTenant, request, context(signal)),
    setTenantKeys: (request, signal) => messenger.call(setTenantKeys, request, context(signal)),
    setTenantModel: (request, signal) => messenger.call(setTenantModel, request, context(signal)),
    setTenantEmbedding: (request, signal) => messenger.call(setTenantEmbedding, request, context(signal)),
    probeModel: (request, signal) => messenger.call(probeModel, request, context(signal)),
    async setQuota(request, signal) {
      await messenger.call(setQuota, request, context(signal));
    },
    usage: async (request, signal) => (await messenger.call(usage, request, context(signal))).usage,
    async setRetention(request, signal) {
      await messenger.call(setRetention, request, context(signal));
    },
    eraseTenant: async (request, signal) => (await messenger.call(eraseTenant, request, context(signal))).progress,
    checkIsolation: (request, signal) => messenger.call(checkIsolation, request, context(signal)),
    removeCanary: (request, signal) => messenger.call(removeCanary, request, context(signal)),
    findManaged: async (request, signal) => (await messenger.call(findManaged, request, context(signal))).managed,
    releaseTenant: (request, signal) => messenger.call(releaseTenant, request, context(signal)),
    unhealthy() {
      const now = clock.monotonicMs();
      if (health === undefined || now - health.at > HEALTH_AGE_MS) health = { at: now, unhealthy: askAll() };
      return health.unhealthy;
    },
  };
}

function context(signal: AbortSignal): CallContext {
  return { requestId: randomUUID(), signal };
}
